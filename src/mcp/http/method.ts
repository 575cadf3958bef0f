import type { Refusal } from './refusal.ts';

const legacyMethods = ['GET', 'POST', 'DELETE'];
const modernMethods = ['POST'];

/** First revision without sessions; dates compare as text. */
const firstModernRevision = '2026-07-28';

const revision = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Checks the HTTP method: POST, and up to 2025-11-25 GET and DELETE as well (B3-01, B5-01).
 * @param protocolVersion the `MCP-Protocol-Version` header
 */
export function checkMethod(method: string, protocolVersion: string | undefined): Refusal | undefined {
  const named = protocolVersion?.trim() ?? '';
  const isModern = revision.test(named) && named >= firstModernRevision;
  const allowed = isModern ? modernMethods : legacyMethods;
  if (allowed.includes(method)) return undefined;
  return { reason: 'method_not_allowed', headers: { Allow: allowed.join(', ') } };
}
