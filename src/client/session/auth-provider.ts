import type { AuthProvider } from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import type { Recovery } from './login-session.ts';
import { type AuthorizationOptions, openLoginSession } from './session.ts';

/** A 401 so soon after a token was replaced, in seconds, answers a request with the one before: no one says which. */
const lateSeconds = 2;

/** Requests that come of one 401: the one it answered, and its repetition. A further one means that it was taken. */
const requestsOfOne401 = 2;

/**
 * The login of one MCP server, for the transports of the SDK's client, which ask for the token of each request and
 * tell of a 401. What the interface has no room for, a step-up on a 403 and a token bound to a key, takes the fetch of
 * `withAuthorization` instead.
 * @param context where requests go through
 * @param url URL of the MCP server
 * @param store where the login is kept
 * @param options who gets new credentials
 * @returns what a transport takes as `authProvider`; its methods reject as `withAuthorization` does
 * @see MCP authorization "Token Handling" (A8-01, A9-05, T-186)
 */
export function createAuthProvider(
  context: ClientContext,
  url: string,
  store: CredentialStore,
  options: AuthorizationOptions = {},
): AuthProvider {
  const { session } = openLoginSession(context, url, store, options);
  const { now } = context;
  let used: Credential | undefined;
  let tried: Recovery = {};
  let handedOut = 0;
  let replacedAt = Number.NEGATIVE_INFINITY;
  let replacing: Promise<void> | undefined;

  const replace = async (challenge: string | null): Promise<void> => {
    handedOut = 0;
    try {
      used = await session.replace(used, challenge, tried);
      replacedAt = now();
    } catch (error) {
      tried = {};
      throw error;
    } finally {
      replacing = undefined;
    }
  };
  return {
    token: async () => {
      used = await session.current();
      if (used?.dpopKey !== undefined)
        throw new ClientError(
          'bad_key',
          'The token of this login is bound to a key, which this transport cannot prove. Use withAuthorization.',
        );
      handedOut += 1;
      if (handedOut > requestsOfOne401) {
        session.accept(used, undefined);
        tried = {};
      }
      return used?.accessToken;
    },
    onUnauthorized: async ({ response }) => {
      if (now() - replacedAt < lateSeconds) return;
      replacing ??= replace(response.headers.get('www-authenticate'));
      await replacing;
    },
  };
}
