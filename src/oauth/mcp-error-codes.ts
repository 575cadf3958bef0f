/**
 * Error codes of JSON-RPC and MCP, by their names in the standards.
 * @see JSON-RPC 2.0 section 5.1; MCP 2025-11-25 resources "Error Handling"; MCP 2026-07-28 "Error Codes"
 */
export const errorCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Of the revisions up to 2025-11-25; later ones use `invalidParams`. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingRequiredClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
  /** The code of the Language Server Protocol: MCP defines none, as nobody waits for that response. */
  requestCancelled: -32800,
} as const;

/** Codes that only servers of 2026-07-28 and later use. */
export const modernErrorCodes: ReadonlySet<unknown> = new Set([
  errorCodes.headerMismatch,
  errorCodes.missingRequiredClientCapability,
  errorCodes.unsupportedProtocolVersion,
]);

/** 4xx statuses that say nothing about the revision of a server: credentials, permissions and load. */
const notAboutAge = new Set([401, 402, 403, 407, 408, 429]);

/**
 * Checks if a status means that a server does not know the request, and not that it denies access.
 * @param status of an HTTP response
 */
export function isAboutTheRequest(status: number): boolean {
  return status >= 400 && status < 500 && !notAboutAge.has(status);
}
