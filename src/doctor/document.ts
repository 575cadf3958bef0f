import { quote } from '../client/quote.ts';
import { isLocalAddress } from '../client/url-policy.ts';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';
import { type Answer, describeAnswer, mediaType } from './ask.ts';

/** Content of a well-known location. */
export type Published =
  /** A JSON object as clients expect it. `slip`: a fault that some clients reject, as a sentence without its end. */
  | { kind: 'document'; members: Record<string, unknown>; slip?: string }
  /** Nothing: clients continue with the next location. */
  | { kind: 'absent' }
  /** Something else; `why` is a sentence without its end. */
  | { kind: 'unusable'; why: string };

/** Statuses of a missing document. */
const absentStatuses = new Set([404, 405, 410]);

/**
 * Reads the response of a well-known location as clients do: status 200, a JSON media type, one JSON object.
 * @see RFC 9728 section 3.2; RFC 8414 section 3.2
 */
export function readDocument(answer: Answer): Published {
  if (answer.kind === 'unanswered') return { kind: 'unusable', why: describeAnswer(answer) };
  const { status, text, truncated } = answer;
  if (absentStatuses.has(status)) return { kind: 'absent' };
  if (status === 401 || status === 403)
    return { kind: 'unusable', why: `it answers ${status}: it asks for a login before the login` };
  if (status !== 200) return { kind: 'unusable', why: `it answers ${describeAnswer(answer)}` };
  const type = mediaType(answer);
  if (type !== 'application/json' && !type.endsWith('+json'))
    return {
      kind: 'unusable',
      why: `it is ${type === '' ? 'without a media type' : quote(type)}, not application/json`,
    };
  if (truncated) return { kind: 'unusable', why: 'it does not end within 256 KiB, or breaks off' };
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return { kind: 'unusable', why: `it is not valid JSON (${error instanceof Error ? error.message : ''})` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { kind: 'unusable', why: 'it is JSON, but no object' };
  const members = value as Record<string, unknown>;
  return text.startsWith('\uFEFF')
    ? { kind: 'document', members, slip: 'it begins with a byte order mark' }
    : { kind: 'document', members };
}

/** Formats a member or header for a sentence: quoted, or the word `missing`. */
export function quoteOrMissing(value: unknown): string {
  return value === undefined || value === null ? 'missing' : quote(value);
}

/** Returns the strings of a list; undefined if the value is no list. */
export function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value.filter((entry): entry is string => typeof entry === 'string')
    : undefined;
}

/** Domains that only private networks resolve. */
const privateName = /\.(?:local|internal|lan|intranet|corp|home|svc|cluster\.local)$/i;

/**
 * Returns the reason why clients cannot use a published URL: it is in the server's own network, or is http although the
 * server is https. Undefined if they can.
 * @param published URL of a document or challenge
 * @param called URL that the server is called by
 */
export function internalFault(published: string, called: string): string | undefined {
  const url = URL.parse(published);
  const from = URL.parse(called);
  if (!url || !from || url.hostname === from.hostname) {
    const downgraded = url && from && from.protocol === 'https:' && url.protocol === 'http:';
    return downgraded ? 'is http, while the server is called by https' : undefined;
  }
  const { hostname } = url;
  const isName = !hostname.startsWith('[') && !/^[\d.]+$/.test(hostname);
  if (isName && !isLoopbackHost(hostname) && !hostname.includes('.'))
    return `has the host ${hostname}, a name of an inner network`;
  if (isName && privateName.test(hostname)) return `has the host ${hostname}, a name of an inner network`;
  if (isLocalAddress(hostname) && !isLocalAddress(from.hostname))
    return `has the host ${hostname}, which clients cannot reach`;
  return undefined;
}
