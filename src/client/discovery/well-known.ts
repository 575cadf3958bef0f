import {
  decodeBody,
  isSuccess,
  mediaTypeOf,
  noteMediaType,
  parseObject,
  readMembers,
  type Slip,
} from '../../oauth/foreign-json.ts';
import type { ReadingToleranceName } from '../../oauth/reading-tolerances.ts';
import { ClientError, type DiscoveryStep } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { limitedFetch } from '../limited-fetch.ts';
import { quote } from '../quote.ts';
import type { UrlRules } from '../url-policy.ts';

/** Sent with every discovery request, so that a server can respond by revision (A2-06). */
export const discoveryProtocolVersion = '2025-11-25';

/** The shared state of one discovery. */
export interface DiscoveryWalk {
  context: ClientContext;
  /** URL of the MCP server. */
  server: string;
  rules: UrlRules;
  trace: DiscoveryStep[];
  /** Origins, besides the issuer's own, that may host its endpoints. */
  allowedOrigins: readonly string[];
  /** See `DiscoveryOptions`. */
  withoutCode?: boolean | undefined;
  /** Chooses among several authorization servers (RFC 9728 section 7.6). */
  chooseAuthorizationServer: (issuers: readonly string[]) => string | undefined;
}

/** The content of a well-known URL. */
export type Place =
  | { kind: 'document'; members: Record<string, unknown> }
  /** Nothing, or a page for people: the next URL is fetched. */
  | { kind: 'absent' }
  /** A response that suggests that there is a document; `why` describes it, as a part of a sentence. */
  | { kind: 'unusable'; reason: ClientError['reason']; why: string };

/** Temporary 4xx statuses: timeout, too early, too many requests (RFC 9110, RFC 8470, RFC 6585). */
const passing = new Set([408, 425, 429]);

/** Checks if a status is temporary: it says nothing about the content of the URL. */
export const isPassing = (status: number): boolean => status >= 500 || passing.has(status);

/** Records a deviation from a standard in the last step of the trace, and reports it to the context. */
export function noteSlip({ context, trace }: Pick<DiscoveryWalk, 'context' | 'trace'>, slip: Slip): void {
  const step = trace.at(-1);
  const names: readonly ReadingToleranceName[] = step?.tolerated ?? [];
  if (step && !names.includes(slip.tolerance)) step.tolerated = [...names, slip.tolerance];
  context.tolerated?.(slip);
}

/** Describes the media type of a response that is no JSON document. */
function describeBody(contentType: string | null): string {
  const type = mediaTypeOf(contentType);
  return type === '' ? 'no media type' : quote(type);
}

function readPlace(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
  note: (slip: Slip) => void,
): Place {
  if (isPassing(status)) return { kind: 'unusable', reason: 'server_error', why: `status ${status}` };
  if (!isSuccess(status)) return { kind: 'absent' };
  const contentType = headers.get('content-type');
  const document = parseObject(text, note);
  if (document !== undefined) {
    noteMediaType(contentType, note);
    return { kind: 'document', members: readMembers(document, note) };
  }
  const type = mediaTypeOf(contentType);
  return type === 'application/json' || type.endsWith('+json')
    ? {
        kind: 'unusable',
        reason: 'bad_metadata',
        why: `status ${status}, which says it is JSON, but holds no JSON object`,
      }
    : { kind: 'absent' };
}

/**
 * Fetches a JSON document from a well-known URL. A temporary failure, or invalid JSON with a JSON media type,
 * is distinguished from a missing document.
 * @throws ClientError those of {@link limitedFetch} except `redirected` and `too_large`
 */
export async function askPlace(
  walk: DiscoveryWalk,
  purpose: DiscoveryStep['purpose'],
  url: string,
): Promise<Place> {
  const slips: Slip[] = [];
  const note = (slip: Slip): void => void slips.push(slip);
  const step = (verdict: DiscoveryStep['verdict'], reason: string, status?: number): void => {
    walk.trace.push({
      purpose,
      method: 'GET',
      url,
      ...(status === undefined ? {} : { status }),
      verdict,
      reason,
    });
    for (const slip of slips) noteSlip(walk, slip);
  };
  try {
    const send = limitedFetch({ ...walk.context, tolerated: note }, { followsWithinOrigin: true });
    const response = await send(url, {
      headers: { accept: 'application/json', 'mcp-protocol-version': discoveryProtocolVersion },
    });
    const { status, headers } = response;
    const place = readPlace(response, decodeBody(await response.arrayBuffer()), note);
    if (place.kind === 'document') step('taken', 'a JSON document', status);
    else if (place.kind === 'unusable') step('refused', place.why, status);
    else
      step(
        'absent',
        status === 200 ? `not a JSON document but ${describeBody(headers.get('content-type'))}` : 'not there',
        status,
      );
    return place;
  } catch (error) {
    step('refused', error instanceof Error ? error.message : 'no answer');
    if (!(error instanceof ClientError) || (error.reason !== 'redirected' && error.reason !== 'too_large'))
      throw error;
    const why = error.message
      .slice(url.length)
      .replace(/^ answered with /, '')
      .replace(/\. .*$|\.$/s, '');
    return { kind: 'unusable', reason: error.reason, why: why.trim() };
  }
}

/** A URL that may have a document, but is not usable. */
export type UnusablePlace = { url: string } & Extract<Place, { kind: 'unusable' }>;

/** Records that a document was found after unusable URLs. */
export function noteLaterPlace(walk: DiscoveryWalk, unusable: readonly UnusablePlace[]): void {
  for (const { url, why } of unusable.filter(({ reason }) => reason !== 'bad_url'))
    noteSlip(walk, { tolerance: 'laterPlace', because: `${new URL(url).pathname} answered with ${why}` });
}

/**
 * Creates the error for a search that found no document, but URLs that may have one.
 * @param what the subject of the sentence
 */
export function unusablePlaces(what: string, unusable: readonly UnusablePlace[]): ClientError {
  const passes = unusable.find(({ reason }) => reason === 'server_error');
  const seen = unusable.map(({ url, why }) => `${url} answered with ${why}`).join('; ');
  const advice = passes
    ? 'Try again later.'
    : 'The server has to publish a JSON document there with status 200, or respond with status 404.';
  return new ClientError(
    (passes ?? unusable[0])?.reason ?? 'bad_metadata',
    `${what} cannot be read: ${seen}. ${advice}`,
  );
}

/** Lists the results of all URLs that were fetched for one purpose, as parts of a sentence. */
export function describeAsked({ trace }: Pick<DiscoveryWalk, 'trace'>, places: readonly string[]): string {
  return places
    .flatMap((place) => trace.filter(({ url, method }) => url === place && method === 'GET').slice(-1))
    .map(
      ({ url, status, reason }) => `${url}: ${status === undefined ? reason : describeStep(status, reason)}`,
    )
    .join('; ');
}

const describeStep = (status: number, reason: string): string =>
  reason === 'not there' ? String(status) : `${status}, ${reason}`;

/**
 * Marks the last step as refused after its document was read.
 * @param resource see `DiscoveryStep`
 */
export function markRefused({ trace }: DiscoveryWalk, why: string, resource?: string): void {
  const last = trace.at(-1);
  if (!last) return;
  last.verdict = 'refused';
  last.reason = why;
  if (resource !== undefined) last.resource = resource;
}

/**
 * Stops discovery because of the document that was read last.
 * @param resource see `DiscoveryStep`
 * @returns never; it throws the reason
 */
export function refuseDocument(
  walk: DiscoveryWalk,
  reason: ClientError['reason'],
  why: string,
  resource?: string,
): never {
  markRefused(walk, why, resource);
  throw new ClientError(reason, why);
}

/** Returns the strings of a metadata member that should be a list of strings; undefined if it is no list. */
export function readStrings(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value.filter((entry): entry is string => typeof entry === 'string' && entry !== '')
    : undefined;
}
