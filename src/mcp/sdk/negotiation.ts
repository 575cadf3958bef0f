import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { legacyRevisions, newestLegacyRevision } from '../http/era.ts';
import type { InitializeParams, InitializeResult, JsonRpcError } from '../protocol.ts';

/**
 * Chooses the revision of one conversation with a server that serves many. What the server answers does not depend on
 * it: both versions of the SDK write the results of all these revisions in one shape, so one server serves them all.
 * @param requested what the client asks for
 * @param answered what the server itself negotiated
 * @param supported what the server says it speaks; undefined if it does not say
 * @see MCP 2025-11-25 lifecycle "Version Negotiation"
 */
export function negotiateRevision(
  requested: string,
  answered: string,
  supported: readonly string[] = legacyRevisions,
): string {
  return legacyRevisions.includes(requested) && supported.includes(requested) ? requested : answered;
}

/**
 * Returns the `initialize` that a server of one conversation negotiates: a client that asks for a revision that is not
 * served here is offered the newest that is.
 * @see MCP 2025-11-25 lifecycle "Version Negotiation"
 */
export function withServedRevision(initialize: InitializeParams): InitializeParams {
  const { protocolVersion } = initialize;
  // What is no revision at all is for the server to refuse.
  if (typeof protocolVersion !== 'string' || legacyRevisions.includes(protocolVersion)) return initialize;
  return { ...initialize, protocolVersion: newestLegacyRevision };
}

/** Error for a conversation whose server chose a revision that is not served here. */
export function checkAnswered({ protocolVersion }: InitializeResult): JsonRpcError | undefined {
  if (legacyRevisions.includes(protocolVersion)) return undefined;
  return {
    code: errorCodes.internalError,
    message: 'The MCP server speaks no protocol revision that is served here.',
    data: { supported: legacyRevisions, answered: protocolVersion },
  };
}
