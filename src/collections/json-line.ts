/** Characters that JSON leaves as they are and at which some readers end a line, as Node's readline does. */
const lineEnds = /[\u0085\u2028\u2029]/g;

/**
 * Writes a value as one line of JSON, whatever the reader takes for the end of a line.
 * @see MCP transports "stdio": messages are delimited by newlines and must not contain any (B1-03)
 */
export function jsonLine(value: unknown): string {
  const escaped = JSON.stringify(value).replace(
    lineEnds,
    (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}
