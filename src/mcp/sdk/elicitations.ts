import type { Answer } from './participants.ts';

/** Most elicitations by URL a conversation waits for the end of; the oldest is forgotten beyond. */
export const maxElicitations = 100;

const urlElicitationRequired = -32042;
const none: readonly string[] = [];

/**
 * Returns the ids of the elicitations by URL a message of a server begins: as a request, or as an error that asks for
 * them. Their end is told by a notification that names nothing but the id.
 * @see MCP 2025-11-25 elicitation "URL Mode Elicitation Requests" and "URL Elicitation Required Error"
 */
export function openElicitations({ method, params, error }: Answer): readonly string[] {
  if (method === 'elicitation/create') return ids([params]);
  if (error?.code !== urlElicitationRequired) return none;
  const { elicitations } = (error.data ?? {}) as { elicitations?: unknown };
  return Array.isArray(elicitations) ? ids(elicitations) : none;
}

function ids(elicitations: unknown[]): string[] {
  return elicitations
    .map((elicitation) => (elicitation as { elicitationId?: unknown } | undefined)?.elicitationId)
    .filter((id) => typeof id === 'string');
}
