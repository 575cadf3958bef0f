import { type EndpointRefusal, readEndpointRefusal } from '../authorization/endpoint-refusal.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { limitedFetch } from '../limited-fetch.ts';
import { isRedirectRefusal } from './redirect-uris.ts';

/** What a login asks for; a client is known, or not, without it. */
const wishes = ['scope', 'resource', 'prompt', 'dpop_jkt'];

/** How servers say in words that they do not know a client, where they have another code for it. */
const unknownClient =
  /\bclient\b.*\b(?:not (?:found|registered|exist)|unknown|unregistered|invalid)\b|\b(?:unknown|unregistered|invalid|no such) client\b/i;

/** @returns undefined where the request is not refused; else the status, and what is said */
async function refusalOf(
  context: ClientContext,
  url: string,
): Promise<(EndpointRefusal & { status: number }) | undefined> {
  const ask = (accept: string): Promise<Response> => limitedFetch(context)(url, { headers: { accept } });
  try {
    const response = await ask('text/html');
    const { status } = response;
    return status === 400 || status === 401
      ? { ...(await readEndpointRefusal(response, ask)), status }
      : undefined;
  } catch (error) {
    if (error instanceof ClientError && error.reason === 'redirected') return undefined;
    throw error;
  }
}

function saysUnknown(error: string, description = ''): boolean {
  if (error === 'invalid_client') return true;
  if (isRedirectRefusal(error, description)) return false;
  return /^(?:invalid_request|unauthorized_client)$/.test(error) && unknownClient.test(description);
}

/**
 * Asks the authorization endpoint, without a browser, whether it still knows a client that was registered earlier.
 * Servers drop old registrations, and the user would only see their error page. A page that tells a program nothing is
 * taken for one about the client where a request that asks for nothing, not even a scope, is refused as well.
 * @param context where requests go through
 * @param authorizationUrl a complete authorization request, made for this check only
 * @returns false where the server refuses the client, and not only what is asked for
 * @throws ClientError where no answer comes
 * @see RFC 6749 section 4.1.2.1
 */
export async function isClientKnown(context: ClientContext, authorizationUrl: string): Promise<boolean> {
  const refusal = await refusalOf(context, authorizationUrl);
  if (refusal === undefined) return true;
  if (refusal.error !== undefined) return !saysUnknown(refusal.error, refusal.description);
  // A 401 without a word may be about programs that are no browsers.
  if (refusal.status === 401) return true;
  const bare = new URL(authorizationUrl);
  for (const wish of wishes) bare.searchParams.delete(wish);
  return (await refusalOf(context, bare.href)) === undefined;
}
