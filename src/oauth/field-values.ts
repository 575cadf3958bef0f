/**
 * Gives the values of one header field, each as it was sent: a second `Host` or `Authorization` must be seen, which
 * Node's combined headers drop, and Node's own list of distinct ones is made of all fields to look at one.
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders` holds them
 * @param name lower-case field name
 * @returns the values in their order
 * @see RFC 9110 section 5.3
 */
export function fieldValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    if (sent?.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}
