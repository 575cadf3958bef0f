import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { limitedFetch } from '../limited-fetch.ts';

/**
 * Asks the authorization endpoint, without a browser, whether it still knows a client that was registered earlier.
 * Servers drop old registrations, and the user would only see their error page.
 * @param context where requests go through
 * @param authorizationUrl a complete authorization request, made for this check only
 * @returns false where the server answers 400 or 401
 * @throws ClientError where no answer comes
 * @see RFC 6749 section 4.1.2.1
 */
export async function isClientKnown(context: ClientContext, authorizationUrl: string): Promise<boolean> {
  try {
    const { status } = await limitedFetch(context, false)(authorizationUrl, {
      headers: { accept: 'text/html' },
    });
    return status !== 400 && status !== 401;
  } catch (error) {
    if (error instanceof ClientError && error.reason === 'redirected') return true;
    throw error;
  }
}
