import {
  ClientError,
  type ClientErrorReason,
  type DiscoveredServer,
  discover,
  type Registration,
  startAuthorization,
} from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { parseObject } from '../../oauth/foreign-json.ts';
import { isLoopbackRedirect } from '../../oauth/redirect-uri.ts';
import { type Answer, type Answered, ask } from '../ask.ts';
import { type Judgement, skip, unknown } from '../check.ts';
import type { Subject } from '../subject.ts';

/** Reaction of the authorization endpoint to a request before a user saw it. */
export type AuthorizationOutcome = { evidence: readonly number[]; status?: number } & (
  | { /** A redirect to the client with a code. */ kind: 'code'; query: URLSearchParams }
  | { /** A redirect to the client with an error. */ kind: 'error'; error: string; query: URLSearchParams }
  | { /** A redirect to another page, usually a login. */ kind: 'onward'; place: string }
  | { /** A page; its shape distinguishes a login from an error. */ kind: 'page'; shape: string }
  | { /** A status 4xx. */ kind: 'refused' }
  | { /** A status 5xx. */ kind: 'broken' }
  | { kind: 'none'; why: string }
);

/** The redirect URI of requests without a user; nobody listens there. */
const unheardRedirectUri = 'http://127.0.0.1:53682/callback';

/** Returns a registered redirect URI as a login sends it: a loopback URI gets a port. */
function redirectUriOf({ redirectUris: [registered = unheardRedirectUri] }: Registration): string {
  const url = URL.parse(registered);
  if (url === null || url.port !== '' || !isLoopbackRedirect(registered)) return registered;
  url.port = new URL(unheardRedirectUri).port;
  return url.href;
}

/** Returns a URL without parts that differ in each request: the query, and segments that look like an id. */
function shapeOf(place: URL): string {
  const segments = place.pathname.split('/').map((one) => (one.length >= 16 || /\d/.test(one) ? '*' : one));
  return `${place.origin}${segments.join('/')}`;
}

/** Returns visible features of a page: its title, and its number of fields. */
function pageShape(html: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim() ?? '';
  return `${title} ${html.match(/<(?:input|button|select)\b/gi)?.length ?? 0}`;
}

/** Returns the target of the response: its Location, or the value that better-auth sends to scripts instead. */
function destinationOf({ status, headers, text }: Answered): string | null {
  if (status >= 300) return headers.get('location');
  const { redirect, url } = parseObject(text) ?? {};
  return redirect === true && typeof url === 'string' ? url : null;
}

/**
 * Reads the response of the authorization endpoint.
 * @param endpoint the authorization endpoint, for relative redirects
 * @param redirectUri the redirect URI of the request
 * @see RFC 6749 sections 4.1.2 and 4.1.2.1
 */
export function readOutcome(answer: Answer, endpoint: string, redirectUri: string): AuthorizationOutcome {
  const { evidence } = answer;
  if (answer.kind === 'unanswered') return { kind: 'none', why: answer.why, evidence };
  const { status, text } = answer;
  const seen = { evidence, status };
  if (status >= 500) return { kind: 'broken', ...seen };
  if (status >= 400) return { kind: 'refused', ...seen };
  const location = destinationOf(answer);
  if (location === null && status < 300) return { kind: 'page', shape: pageShape(text), ...seen };
  const place = location === null ? null : URL.parse(location, endpoint);
  if (place === null) return { kind: 'refused', ...seen };
  const asked = URL.parse(redirectUri);
  const isBack = asked !== null && place.origin === asked.origin && place.pathname === asked.pathname;
  const error = place.searchParams.get('error');
  if (isBack && place.searchParams.has('code')) return { kind: 'code', query: place.searchParams, ...seen };
  if (isBack && error !== null) return { kind: 'error', error, query: place.searchParams, ...seen };
  if (error !== null) return { kind: 'refused', ...seen };
  return { kind: 'onward', place: shapeOf(place), ...seen };
}

/**
 * Sends an authorization request without a browser.
 * @param found result of discovery
 * @param registration the client
 * @param changes changed parameters of a good request; null removes one
 */
export async function sendAuthorization(
  subject: Subject,
  found: DiscoveredServer,
  registration: Registration,
  changes: Readonly<Record<string, string | null>> = {},
): Promise<AuthorizationOutcome> {
  const { url } = await startAuthorization(found, registration, { redirectUri: redirectUriOf(registration) });
  const request = new URL(url);
  for (const [name, value] of Object.entries(changes))
    if (value === null) request.searchParams.delete(name);
    else request.searchParams.set(name, value);
  const answer = await ask(subject, request.href, { headers: { accept: 'text/html' } });
  return readOutcome(answer, request.href, request.searchParams.get('redirect_uri') ?? '');
}

/**
 * Returns true if the server continued with a code, a login or a consent. A page with status 200 counts only if it
 * looks like the page of a good request, because it may contain an error.
 * @param outcome outcome of the request
 * @param good outcome of a good request of the same client
 * @returns undefined if that is unclear
 */
export function isGoingOn(outcome: AuthorizationOutcome, good: AuthorizationOutcome): boolean | undefined {
  if (outcome.kind === 'code') return true;
  if (outcome.kind === 'onward')
    return good.kind === 'onward' && good.place === outcome.place ? true : undefined;
  if (outcome.kind === 'page') return good.kind === 'page' && good.shape === outcome.shape ? true : undefined;
  return outcome.kind === 'none' || outcome.kind === 'broken' ? undefined : false;
}

/** Describes an outcome, as the rest of a sentence that begins with "The request". */
export function describeOutcome(outcome: AuthorizationOutcome): string {
  switch (outcome.kind) {
    case 'code':
      return 'came back with a code, without a user being asked';
    case 'error': {
      const why = outcome.query.get('error_description');
      return `came back to the client with ${quote(outcome.error)}${why === null ? '' : ` (${quote(why)})`}`;
    }
    case 'onward':
      return `was sent on to ${quote(outcome.place)}`;
    case 'page':
      return `was answered with a page (status ${outcome.status})`;
    case 'refused':
      return `was refused with status ${outcome.status}`;
    case 'broken':
      return `was answered with status ${outcome.status}`;
    case 'none':
      return `got no answer: ${outcome.why}`;
  }
}

/** The authorization server that the client finds, or the reason why it finds none. */
type FoundServer =
  | { kind: 'found'; found: DiscoveredServer }
  | { kind: 'lost'; reason: ClientErrorReason; why: string };

/** Id of the check that explains why discovery stopped. */
const causes: Partial<Record<ClientErrorReason, string>> = {
  not_protected: 'CHALLENGE-STATUS',
  resource_mismatch: 'PRM-RESOURCE',
  no_metadata: 'AS-FOUND',
  issuer_mismatch: 'AS-ISSUER',
  foreign_endpoint: 'AS-ENDPOINT-ORIGIN',
  no_pkce: 'AS-PKCE',
};

/** Fact: the result of discovery from the URL to the authorization server, as for a login. */
export async function foundServer(subject: Subject): Promise<FoundServer> {
  try {
    return { kind: 'found', found: await discover(subject.context, subject.url) };
  } catch (error) {
    if (error instanceof ClientError) return { kind: 'lost', reason: error.reason, why: error.message };
    throw error;
  }
}

/**
 * Builds the judgement of a check without an authorization server.
 * @param lost reason why {@link foundServer} failed
 */
export function judgeLost({ reason, why }: Extract<FoundServer, { kind: 'lost' }>): Judgement {
  const because = causes[reason];
  const saw = `No login can begin: ${why}`;
  return because === undefined ? unknown(saw) : skip(saw, { because });
}
