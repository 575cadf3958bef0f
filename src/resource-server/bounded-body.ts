/**
 * Reads the body of an answer up to a limit.
 * @param maxBytes limit
 * @throws RangeError for a larger one, of which no more is read
 */
export async function readBounded(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RangeError(`the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
