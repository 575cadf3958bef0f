import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';

/** Revisions that begin with `initialize`, the latest first. */
export const legacyRevisions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/**
 * Chooses the revision of one conversation with a server that serves many. What the server answers does not depend on
 * it: both versions of the SDK write the results of all these revisions in one shape, so one server serves them all.
 * @param requested what the client asks for
 * @param answered what the server itself negotiated
 * @param supported what the server says it speaks; undefined where it does not say
 * @see MCP 2025-11-25 lifecycle "Version Negotiation"
 */
export function negotiateRevision(
  requested: string,
  answered: string,
  supported: readonly string[] = legacyRevisions,
): string {
  return legacyRevisions.includes(requested) && supported.includes(requested) ? requested : answered;
}
