import type { AuthorizationRequest } from '../authorization/authorization-agent.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { quote } from '../quote.ts';
import { isRedirectRefusal } from '../registration/redirect-uris.ts';

/** Longest wait for the authorization endpoint, in milliseconds: a browser will ask it again. */
const preflightTimeoutMs = 5_000;

/** As much of an error page as is looked through, in characters. */
const maxPageLength = 64 * 1024;

/** Errors that no login at the server can mend (RFC 6749 section 4.1.2.1, RFC 8707 section 2, RFC 7591 section 3.2.2). */
const hopeless = /^(?:invalid_|unauthorized_|unsupported_|redirect_uri_mismatch)/;

/** Statuses that say the request itself is wrong. A 401, 403, 429 or 503 may be about programs that are no browsers. */
const refusals = new Set([400, 404, 405, 410, 414]);

/** What a refusal says: the code and the words of OAuth, or the title of a page. */
interface Said {
  error?: string | null | undefined;
  description?: string | null | undefined;
  title?: string | undefined;
}

function refused(what: string, { error, description, title }: Said): ClientError {
  const name = error || title;
  const named = name ? `: ${quote(name)}` : '';
  const because = description ? ` (${quote(description)})` : '';
  return new ClientError(
    isRedirectRefusal(name ?? '', description ?? '') ? 'redirect_uri_refused' : 'authorization_denied',
    `The authorization endpoint refuses this login before anybody is asked; it answers with ${what}${named}${because}.`,
    error ? { oauthError: error } : {},
  );
}

async function readPage(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += part.value;
    if (text.length > maxPageLength) await reader?.cancel();
  }
  return text;
}

/** Reads what a refusal that is meant for programs says; nothing of it where it is none. */
function readRefusal(text: string): Said {
  const { error, error_description: description } = Object(JSON.parse(text)) as Record<string, unknown>;
  const shown = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return { error: shown(error), description: shown(description) };
}

async function explainPage(response: Response): Promise<ClientError> {
  const text = await readPage(response).catch(() => '');
  const what = `status ${response.status}`;
  try {
    return refused(what, readRefusal(text));
  } catch {
    return refused(what, { title: /<title[^>]*>([^<]{1,200})</i.exec(text)?.[1]?.trim() });
  }
}

function judgeRedirect(location: URL, redirectUri: string): URLSearchParams | undefined {
  const query = location.searchParams;
  const error = query.get('error');
  if (error === null) return undefined;
  if (`${location.origin}${location.pathname}` === redirectUri) return query;
  if (hopeless.test(error))
    throw refused('a redirect', { error, description: query.get('error_description') });
  return undefined;
}

/**
 * A 403 may be for programs alone, such as a firewall's page. One that has an OAuth error to tell to a program as well is
 * about the client: it waits for an operator's approval, or was denied it.
 */
async function judgeForbidden(context: ClientContext, url: string, signal: AbortSignal): Promise<void> {
  const response = await context
    .fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal })
    .catch(() => undefined);
  if (response?.status !== 403) return void (await response?.body?.cancel());
  const text = await readPage(response).catch(() => '');
  try {
    const said = readRefusal(text);
    if (said.error === undefined) return;
    throw refused('status 403', said);
  } catch (thrown) {
    if (thrown instanceof ClientError) throw thrown;
  }
}

/**
 * Opens the authorization URL without a browser first, so that a request the server refuses anyhow, such as one for an
 * unknown scope, ends now and not when the user gives up. Where it cannot be judged, a browser has to go on.
 * @param context where requests go through
 * @param request the authorization request
 * @param redirectUri where its answer goes
 * @returns query of an error sent to the redirect URI, which is the answer; undefined where the login goes on
 * @throws ClientError `authorization_denied` or `redirect_uri_refused` where the server shows an error of its own
 * @see RFC 6749 section 4.1.2.1
 */
export async function askAuthorizationEndpoint(
  context: ClientContext,
  { url }: AuthorizationRequest,
  redirectUri: string,
): Promise<URLSearchParams | undefined> {
  const timeoutMs = Math.min(context.timeoutMs ?? preflightTimeoutMs, preflightTimeoutMs);
  // The endpoint may be within reach of the user's browser only.
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await context
    .fetch(url, { headers: { accept: 'text/html' }, redirect: 'manual', signal })
    .catch(() => undefined);
  if (response === undefined) return undefined;
  if (refusals.has(response.status)) throw await explainPage(response);
  await response.body?.cancel();
  if (response.status === 403) await judgeForbidden(context, url, signal);
  const location = URL.parse(response.headers.get('location') ?? '', url);
  return location === null || response.status < 300 || response.status > 399
    ? undefined
    : judgeRedirect(location, redirectUri);
}
