/**
 * Whether a stream of a command is a terminal, with a person at it.
 * @param stream standard input, output or error, or what stands for it
 */
export function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}
