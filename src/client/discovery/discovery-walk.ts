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

/** What a well-known place holds. */
export type Place =
  | { kind: 'document'; members: Record<string, unknown> }
  /** Nothing, or a page for people: the next place is asked. */
  | { kind: 'absent' }
  /** Something that says that there may be a document; `why` tells what was seen, a part of a sentence. */
  | { kind: 'unusable'; reason: ClientError['reason']; why: string };

/** 4xx that say nothing about what is there: timeout, too early, too many requests (RFC 9110, RFC 8470, RFC 6585). */
const passing = new Set([408, 425, 429]);

/** Whether a status says nothing about what is there. */
export const isPassing = (status: number): boolean => status >= 500 || passing.has(status);

/** Takes note of a slip: in the trace, at its last step, and for whoever asked to be told. */
export function noteSlip({ context, trace }: Pick<DiscoveryWalk, 'context' | 'trace'>, slip: Slip): void {
  const step = trace.at(-1);
  const names: readonly ReadingToleranceName[] = step?.tolerated ?? [];
  if (step && !names.includes(slip.tolerance)) step.tolerated = [...names, slip.tolerance];
  context.tolerated?.(slip);
}

/** What an answer is that is no document, as far as it can be told: the media type, or that there is none. */
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
 * Asks one well-known place for a JSON document. What may pass, and what says that it is JSON and is none, is told apart
 * from what is not there.
 * @throws ClientError those of {@link limitedFetch} but `redirected` and `too_large`
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

/** A place that may have a document and cannot be used. */
export type UnusablePlace = { url: string } & Extract<Place, { kind: 'unusable' }>;

/** Takes note that a document stands behind places that cannot be used. */
export function noteLaterPlace(walk: DiscoveryWalk, unusable: readonly UnusablePlace[]): void {
  for (const { url, why } of unusable.filter(({ reason }) => reason !== 'bad_url'))
    noteSlip(walk, { tolerance: 'laterPlace', because: `${new URL(url).pathname} answered with ${why}` });
}

/**
 * The failure of a walk that found no document, but places that may have one.
 * @param what whose metadata it is, the beginning of a sentence
 */
export function unusablePlaces(what: string, unusable: readonly UnusablePlace[]): ClientError {
  const passes = unusable.find(({ reason }) => reason === 'server_error');
  const seen = unusable.map(({ url, why }) => `${url} answered with ${why}`).join('; ');
  const advice = passes
    ? 'Try again later.'
    : 'A JSON document with status 200 has to be there, or nothing with status 404.';
  return new ClientError(
    (passes ?? unusable[0])?.reason ?? 'bad_metadata',
    `${what} cannot be read: ${seen}. ${advice}`,
  );
}

/** What was seen at all places that were asked for one purpose: the parts of a sentence. */
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

/** Marks the last step as refused after its document was read. @param resource see `DiscoveryStep` */
export function markRefused({ trace }: DiscoveryWalk, why: string, resource?: string): void {
  const last = trace.at(-1);
  if (!last) return;
  last.verdict = 'refused';
  last.reason = why;
  if (resource !== undefined) last.resource = resource;
}

/**
 * Stops the walk because of the document that was read last.
 * @param resource see `DiscoveryStep`
 * @returns never: it throws the reason
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

/** @returns the strings of a metadata member that should be a list of strings; undefined if it is no list */
export function readStrings(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value.filter((entry): entry is string => typeof entry === 'string' && entry !== '')
    : undefined;
}
