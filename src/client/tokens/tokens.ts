import * as oauth from 'oauth4webapi';
import { parseScope } from '../../oauth/scope.ts';
import { ClientError, LoginRequiredError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { clientAuthentication, exchangeOptions, type OAuthRefusal, readRefusal } from '../exchange.ts';
import {
  type Credential,
  type CredentialStore,
  credentialKey,
  type Registration,
} from '../stores/credential-store.ts';

/** An access token is renewed when it has less than this left, in seconds. */
export const refreshAheadSeconds = 60;

/**
 * Makes a credential of a token response.
 * @param tokens the response, checked by oauth4webapi
 * @param issued what the request was about; `now` in epoch seconds, `scopes` as asked for
 * @throws ClientError `token_refused` for a token type other than Bearer
 * @see RFC 6749 section 5.1; RFC 6750 section 4
 */
export function toCredential(
  tokens: oauth.TokenEndpointResponse,
  issued: Pick<Credential, 'authorizationServer' | 'resource' | 'clientId' | 'scopes' | 'refreshToken'> & {
    now: number;
  },
): Credential {
  if (tokens.token_type !== 'bearer')
    throw new ClientError(
      'token_refused',
      'The authorization server issued a token that is no bearer token.',
    );
  const { now, ...rest } = issued;
  return {
    ...rest,
    accessToken: tokens.access_token,
    expiresAt: tokens.expires_in === undefined ? undefined : now + tokens.expires_in,
    refreshToken: tokens.refresh_token ?? rest.refreshToken,
    scopes: tokens.scope === undefined ? rest.scopes : parseScope(tokens.scope),
  };
}

/**
 * Redeems a refresh token at the authorization server that issued it. The old refresh token stays where the answer has none.
 * @returns the new credential, or why the server refused
 * @throws ClientError where no answer came
 * @see RFC 6749 section 6; RFC 8707 section 2.2 (A7-01, A9-05)
 */
export async function refreshCredential(
  context: ClientContext,
  credential: Credential & { refreshToken: string },
  registration: Registration,
): Promise<{ kind: 'refreshed'; credential: Credential } | { kind: 'refused'; refusal: OAuthRefusal }> {
  const { authorizationServer: as, resource, clientId, scopes, refreshToken } = credential;
  const client = { client_id: clientId };
  try {
    const response = await oauth.refreshTokenGrantRequest(
      as,
      client,
      clientAuthentication(registration, as.token_endpoint_auth_methods_supported),
      refreshToken,
      { ...exchangeOptions(context), additionalParameters: { resource } },
    );
    const tokens = await oauth.processRefreshTokenResponse(as, client, response);
    const issued = { authorizationServer: as, resource, clientId, scopes, refreshToken, now: context.now() };
    return { kind: 'refreshed', credential: toCredential(tokens, issued) };
  } catch (thrown) {
    return { kind: 'refused', refusal: await readRefusal(thrown, 'token endpoint') };
  }
}

const inFlight = new WeakMap<CredentialStore, Map<string, Promise<Credential>>>();

/**
 * Gives the credential of a server, refreshed where it ends within 60 s or was rejected. However many ask at once, in
 * this process or another on the same store, one refresh token is redeemed once; the others take its result.
 * @param context where requests go through
 * @param store where credentials are kept
 * @param server canonical URL of the MCP server
 * @param rejected an access token that the server answered with 401
 * @returns the credential, or undefined where there was no login
 * @throws LoginRequiredError where only the user can go on; ClientError where the authorization server does not answer
 * @see RFC 6749 section 6; RFC 9700 section 4.14 (A9-05, T-188)
 */
export async function freshCredential(
  context: ClientContext,
  store: CredentialStore,
  server: string,
  rejected?: string,
): Promise<Credential | undefined> {
  const held = await store.findCredential(server);
  if (held === undefined || isGood(held, context.now(), rejected)) return held;
  const flights = inFlight.get(store) ?? new Map<string, Promise<Credential>>();
  inFlight.set(store, flights);
  const key = credentialKey(held);
  const flying = flights.get(key);
  if (flying !== undefined) return flying;
  const flight = store
    .exclusively(key, () => renew(context, store, server, rejected))
    .finally(() => flights.delete(key));
  flights.set(key, flight);
  return flight;
}

function isGood(credential: Credential, now: number, rejected: string | undefined): boolean {
  const { accessToken, expiresAt } = credential;
  return accessToken !== rejected && (expiresAt === undefined || expiresAt - now > refreshAheadSeconds);
}

async function renew(
  context: ClientContext,
  store: CredentialStore,
  server: string,
  rejected: string | undefined,
): Promise<Credential> {
  const current = await store.findCredential(server);
  if (current === undefined) throw new LoginRequiredError(server, 'The login has ended.');
  const now = context.now();
  if (isGood(current, now, rejected)) return current;
  const stillAlive = current.accessToken !== rejected && (current.expiresAt ?? Infinity) > now;
  const { refreshToken, clientId, authorizationServer } = current;
  if (refreshToken === undefined) {
    if (stillAlive) return current;
    throw new LoginRequiredError(
      server,
      'The login has ended, and the server gave nothing to renew it with.',
    );
  }
  const registration = await store.findRegistration(authorizationServer.issuer);
  if (registration?.clientId !== clientId) {
    if (stillAlive) return current;
    throw new LoginRequiredError(server, 'The client this login was made with is no longer known here.');
  }
  try {
    const result = await refreshCredential(context, { ...current, refreshToken }, registration);
    if (result.kind === 'refreshed') {
      await store.saveCredential(server, result.credential);
      return result.credential;
    }
    const { error, message } = result.refusal;
    if (error === 'invalid_client') await store.forgetRegistration(authorizationServer.issuer, clientId);
    if (error !== 'invalid_grant' && error !== 'invalid_client')
      throw new ClientError('token_refused', message);
    await store.forgetCredential(current);
  } catch (failure) {
    if (failure instanceof ClientError && stillAlive) return current;
    throw failure;
  }
  throw new LoginRequiredError(server, 'The authorization server no longer accepts this login.');
}
