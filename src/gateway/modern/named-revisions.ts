import { type JsonRpcError, modernRevision } from '../../mcp/protocol.ts';

/** A server's response of any form. */
interface Answered {
  result?: Record<string, unknown> | undefined;
  error?: JsonRpcError | undefined;
}

/**
 * Returns the revisions a server says it speaks: in its answer to `server/discover`, or in the error with which it
 * refuses another.
 * @returns undefined if it names none
 * @see MCP 2026-07-28 "Protocol Version Negotiation" (C3-03, C3-08)
 */
export function namedRevisions({ result, error }: Answered): readonly unknown[] | undefined {
  const { supported } = Object(error?.data) as { supported?: unknown };
  const versions = result ? result.supportedVersions : supported;
  return Array.isArray(versions) ? versions : undefined;
}

/** Returns true if a server names 2026-07-28 among the revisions it speaks. */
export function namesModern(answer: Answered): boolean {
  return namedRevisions(answer)?.includes(modernRevision) === true;
}
