/** Position of an event: its stream within the session, and its number. */
export interface EventPlace {
  stream: string;
  position: number;
}

/**
 * Writes the id of an event. It names the stream, so that a resumption needs no search (B3-09).
 * @see MCP 2025-11-25 transports "Resumability and Redelivery"
 */
export function formatEventId(stream: string, position: number): string {
  return `${stream}/${position}`;
}

/**
 * Reads a `Last-Event-ID`.
 * @returns undefined for what we never wrote
 */
export function parseEventId(id: string): EventPlace | undefined {
  const [, stream, position] = /^([A-Za-z0-9_-]{1,32})\/(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, position: Number(position) };
}
