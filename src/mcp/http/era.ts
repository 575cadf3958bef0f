import type { IncomingHttpHeaders } from 'node:http';
import { classifyInboundRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { headerOf } from './headers.ts';
import type { Posted } from './transport.ts';

/** The newest revision that begins with `initialize`. */
export const newestLegacyRevision = '2025-11-25';

/** The one revision with batches. */
export const revisionWithBatches = '2025-03-26';

/** Revisions that begin with `initialize` and are served, newest first; the only ones that are negotiated. */
export const legacyRevisions: readonly string[] = [
  newestLegacyRevision,
  '2025-06-18',
  revisionWithBatches,
  '2024-11-05',
];

/**
 * Returns true if a POST belongs to a revision up to 2025-11-25. Its own content decides; an absent header never leads
 * to weaker checks, only to the rules of the other era (B5-16, T-133). Two plain cases are decided here, because the
 * SDK's classification parses the whole message.
 * @see MCP 2026-07-28 lifecycle "Dual-era servers"
 */
export function isLegacyPost(headers: IncomingHttpHeaders, { value, messages }: Posted): boolean {
  const version = headerOf(headers, 'mcp-protocol-version');
  const method = headerOf(headers, 'mcp-method');
  const [message] = messages.list;
  if (!messages.isBatch && message?.method !== undefined) {
    const meta = message.params?._meta as Record<string, unknown> | undefined;
    const claimsModern = typeof meta === 'object' && meta !== null && PROTOCOL_VERSION_META_KEY in meta;
    const namesLegacy = version === undefined || legacyRevisions.includes(String(version));
    if (claimsModern && !namesLegacy) return false;
    if (!claimsModern && namesLegacy && method === undefined) return true;
  }
  const name = headerOf(headers, 'mcp-name');
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body: value,
    ...(version === undefined ? {} : { protocolVersionHeader: String(version) }),
    ...(method === undefined ? {} : { mcpMethodHeader: String(method) }),
    ...(name === undefined ? {} : { mcpNameHeader: String(name) }),
  });
  return outcome.kind === 'legacy';
}
