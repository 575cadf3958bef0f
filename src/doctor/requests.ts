/** User agent of the doctor. */
const clientInfo = { name: 'gatehouse-doctor', version: '1' };

/** The newest revision with `initialize`. */
export const legacyRevision = '2025-11-25';

/** The newest revision, which has no handshake. */
const modernRevision = '2026-07-28';

/** Origin of a common browser client: MCP Inspector. */
export const browserOrigin = 'http://localhost:6274';

/**
 * Builds a POST of one JSON-RPC request as MCP clients send it.
 * @param headers additional headers, such as `Authorization`
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
 * Builds the first request of a client of the revisions up to 2025-11-25.
 * @param headers additional headers
 */
export function initializeRequest(headers: Record<string, string> = {}): RequestInit {
  return mcpRequest('initialize', { protocolVersion: legacyRevision, capabilities: {}, clientInfo }, headers);
}

/** Builds a request of 2026-07-28, which needs no handshake. */
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
 * Builds the preflight request of a browser.
 * @param method method of the page's request
 * @param headers names of its headers
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
