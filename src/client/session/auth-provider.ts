import type { AuthProvider } from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import type { Recovery } from './login-session.ts';
import { type AuthorizationOptions, openLoginSession } from './session.ts';

/**
 * Time after a token was replaced, in seconds, in which a 401 probably answers a request with the old token:
 * the SDK does not tell which token a 401 is for.
 */
const lateSeconds = 2;

/** A 401 and the repeated request use the token twice. A third use means that the server accepted it. */
const requestsOfOne401 = 2;

/**
 * Creates the `authProvider` of an SDK transport from the login to one MCP server. The transports ask it for
 * the token of each request, and report a 401. Their interface supports neither a step-up after a 403 nor
 * DPoP-bound tokens: for these, use the fetch of `withAuthorization`.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param store the store with the login
 * @param options the authorizer
 * @returns a provider whose methods reject like `withAuthorization`
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
          'The token of this login is bound to a key (DPoP), which this transport does not support. Use withAuthorization.',
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
