/** A request of 2026-07-28 that is sent by hand. */
export interface ModernPost {
  method: string;
  params?: Record<string, unknown>;
  /** What `_meta` has beside the revision. */
  meta?: object;
  id?: string | number;
  /** What is sent beside what the revision asks for. */
  headers?: Record<string, string>;
}

/** Sends a request of 2026-07-28 by hand, for the person whose token it is. */
export function postModern(
  url: string,
  token: string,
  { method, params = {}, meta = {}, id = 1, headers = {} }: ModernPost,
): Promise<Response> {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', ...meta };
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
  });
}
