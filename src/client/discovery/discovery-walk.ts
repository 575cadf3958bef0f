import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { limitedFetch } from '../limited-fetch.ts';
import { quote } from '../quote.ts';
import type { UrlRules } from '../url-policy.ts';
import type { DiscoveryStep } from './discovery-step.ts';

/** Sent on every discovery request, so that a server can answer by revision (A2-06). */
export const discoveryProtocolVersion = '2025-11-25';

/** What the steps of one discovery share. */
export interface DiscoveryWalk {
  context: ClientContext;
  /** URL of the MCP server. */
  server: string;
  rules: UrlRules;
  trace: DiscoveryStep[];
  /** Origins, besides the issuer's own, on which its endpoints may stand. */
  allowedOrigins: readonly string[];
  /** See `DiscoveryOptions`. */
  withoutCode?: boolean | undefined;
  /** Chooses among several authorization servers (RFC 9728 section 7.6). */
  chooseAuthorizationServer: (issuers: readonly string[]) => string | undefined;
}

/** 4xx that say nothing about what is there: timeout, too early, too many requests (RFC 9110, RFC 8470, RFC 6585). */
const passing = new Set([408, 425, 429]);

/**
 * Asks one well-known place for a JSON document.
 * What is no JSON document (a page, a 4xx) counts as absent; a 5xx, and a 4xx that says "later", stop discovery: a busy
 * server is no old one (A2-08).
 * @returns the document, or undefined where there is none
 * @throws ClientError `server_error`, `bad_metadata`, and those of {@link limitedFetch}
 */
export async function fetchDocument(
  walk: DiscoveryWalk,
  purpose: DiscoveryStep['purpose'],
  url: string,
): Promise<Record<string, unknown> | undefined> {
  const step = (verdict: DiscoveryStep['verdict'], reason: string, status?: number): void => {
    walk.trace.push({
      purpose,
      method: 'GET',
      url,
      ...(status === undefined ? {} : { status }),
      verdict,
      reason,
    });
  };
  const response = await limitedFetch(walk.context)(url, {
    headers: { accept: 'application/json', 'mcp-protocol-version': discoveryProtocolVersion },
  }).catch((error: unknown) => {
    step('refused', error instanceof Error ? error.message : 'no answer');
    throw error;
  });
  if (response.status >= 500 || passing.has(response.status)) {
    step('refused', 'no answer now: the next place is not asked', response.status);
    throw new ClientError('server_error', `${url} answered with status ${response.status}. Try again later.`);
  }
  if (response.status !== 200) {
    step('absent', 'not there', response.status);
    return undefined;
  }
  const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !type.endsWith('+json')) {
    step('absent', `not a JSON document but ${quote(type)}`, response.status);
    return undefined;
  }
  const document: unknown = await response.json().catch(() => undefined);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    step('refused', 'not a JSON object', response.status);
    throw new ClientError('bad_metadata', `${url} says it is JSON, but holds no JSON object.`);
  }
  step('taken', 'a JSON document', response.status);
  return document as Record<string, unknown>;
}

/**
 * Marks the last step as refused after its document was read.
 * @param resource see `DiscoveryStep`
 * @returns never: it throws the reason
 */
export function refuseDocument(
  walk: DiscoveryWalk,
  reason: ClientError['reason'],
  why: string,
  resource?: string,
): never {
  const last = walk.trace.at(-1);
  if (last) {
    last.verdict = 'refused';
    last.reason = why;
    if (resource !== undefined) last.resource = resource;
  }
  throw new ClientError(reason, why);
}

/** @returns the strings of a metadata member that should be a list of strings; undefined where it is no list */
export function readStrings(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value.filter((entry): entry is string => typeof entry === 'string')
    : undefined;
}
