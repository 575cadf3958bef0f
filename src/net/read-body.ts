import type { IncomingMessage } from 'node:http';
import { FetchRefused } from './fetch-refused.ts';

/**
 * Reads the body of an answer up to a limit, and not a byte of one that says it is larger or compressed: what is not
 * unpacked is no bomb (T-071).
 * @param response an answer whose body nobody has read
 * @param maxBytes limit
 * @throws FetchRefused
 */
export async function readBoundedBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new FetchRefused('encoded', 'the answer is compressed, which was not asked for');
  const tooLarge = (): FetchRefused =>
    new FetchRefused('too_large', `the answer has more than ${maxBytes} bytes`);
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
