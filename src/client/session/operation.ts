/** Names of what an MCP request is about, by the member of `params` that has it. */
const subjects = ['name', 'uri'] as const;

/**
 * Names the operation of a request to an MCP server, so that what was refused once is known again.
 * @param init the request
 * @returns the JSON-RPC method and what it is about, `tools/call notes_add`; the HTTP method where the body is no message
 * @see MCP authorization "Step-Up Authorization Flow" (A8-08)
 */
export function nameOperation({ method = 'GET', body }: RequestInit): string {
  if (typeof body !== 'string') return method;
  try {
    const message = Object(JSON.parse(body)) as { method?: unknown; params?: unknown };
    if (typeof message.method !== 'string') return method;
    const parameters = Object(message.params) as Record<string, unknown>;
    const subject = subjects.map((member) => parameters[member]).find((value) => typeof value === 'string');
    return subject === undefined ? message.method : `${message.method} ${subject}`;
  } catch {
    return method;
  }
}
