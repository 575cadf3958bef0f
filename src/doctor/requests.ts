/** User agent of the doctor. */
const clientInfo = { name: 'gatehouse-doctor', version: '1' };

/** The newest revision with `initialize`. */
export const legacyRevision = '2025-11-25';

/** The newest revision, which has no handshake. */
const modernRevision = '2026-07-28';

/** An origin that a browser client of today has: MCP Inspector. */
export const browserOrigin = 'http://localhost:6274';

/**
 * A POST of one JSON-RPC request as MCP clients send it.
 * @param method its method
 * @param params its parameters
 * @param headers more fields, such as `Authorization`
 */
export function mcpRequest(
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): RequestInit {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'doctor', method, params }),
  };
}

/**
 * The first request of a client of the revisions up to 2025-11-25.
 * @param headers more fields
 */
export function initializeRequest(headers: Record<string, string> = {}): RequestInit {
  return mcpRequest('initialize', { protocolVersion: legacyRevision, capabilities: {}, clientInfo }, headers);
}

/**
 * A request of 2026-07-28: it stands alone, without a handshake.
 * @param method its method
 */
export function modernRequest(method: string): RequestInit {
  const member = 'io.modelcontextprotocol';
  const meta = {
    [`${member}/protocolVersion`]: modernRevision,
    [`${member}/clientInfo`]: clientInfo,
    [`${member}/clientCapabilities`]: {},
  };
  return mcpRequest(
    method,
    { _meta: meta },
    { 'mcp-protocol-version': modernRevision, 'mcp-method': method },
  );
}

/**
 * Builds the preflight request that a browser sends before a page's request.
 * @param method the method that the page wants to use
 * @param headers the fields that the page wants to send
 * @see WHATWG Fetch "CORS-preflight fetch"
 */
export function preflightRequest(method: string, headers: readonly string[]): RequestInit {
  return {
    method: 'OPTIONS',
    headers: {
      origin: browserOrigin,
      'access-control-request-method': method,
      ...(headers.length === 0 ? {} : { 'access-control-request-headers': headers.join(',') }),
    },
  };
}
