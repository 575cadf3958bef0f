import { ClientError, LoginRequiredError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { formerLogin } from '../session/former-login.ts';
import { type Credential, type CredentialStore, credentialKey } from '../stores/credential-store.ts';
import { clientOf, renewCredential } from './renewal.ts';
import { refreshAheadSeconds } from './token-request.ts';

/**
 * Renewed credentials that could not be stored, by the refresh token that they were renewed with. That one is
 * used: sending it again would look like theft (RFC 9700 section 4.14.2).
 */
const unsaved = new WeakMap<CredentialStore, Map<string, Credential>>();

/** Stores a renewed credential. If the store fails, it is kept in memory until the store accepts it. */
async function keep(
  store: CredentialStore,
  server: string,
  renewed: Credential,
  from: Credential,
): Promise<void> {
  const waiting = unsaved.get(store) ?? new Map<string, Credential>();
  unsaved.set(store, waiting);
  if (from.refreshToken !== undefined) waiting.set(from.refreshToken, renewed);
  await store.saveCredential(server, renewed, from);
  if (from.refreshToken !== undefined) waiting.delete(from.refreshToken);
}

/** Returns the unsaved successor of a stored credential, and stores it; else the credential itself. */
async function withSuccessor(store: CredentialStore, server: string, held: Credential): Promise<Credential> {
  const successor = unsaved.get(store)?.get(held.refreshToken ?? '');
  if (successor === undefined) return held;
  // If the store still fails, the successor can be used nevertheless.
  await keep(store, server, successor, held).catch(() => undefined);
  return successor;
}

const inFlight = new WeakMap<CredentialStore, Map<string, Promise<Credential>>>();

/**
 * Returns the credential of a server, refreshed if it expires within 60 s or was rejected. Concurrent calls,
 * in this process or another on the same store, redeem the refresh token once and share the result.
 * @param context fetch, clock and limits
 * @param store the store of credentials
 * @param server canonical URL of the MCP server
 * @param rejected an access token that the server rejected with 401
 * @returns the credential, or undefined if there was no login
 * @throws LoginRequiredError if only the user can continue; ClientError if the authorization server does not
 *   respond
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
  const { accessToken, expiresAt = Infinity, renewAt = expiresAt - refreshAheadSeconds } = credential;
  return accessToken !== rejected && now < renewAt;
}

async function renew(
  context: ClientContext,
  store: CredentialStore,
  server: string,
  rejected: string | undefined,
): Promise<Credential> {
  const found = await store.findCredential(server);
  if (found === undefined)
    throw new LoginRequiredError(server, 'The login has ended.', await store.findFormerLogin(server));
  const current = await withSuccessor(store, server, found);
  const now = context.now();
  if (isGood(current, now, rejected)) return current;
  const stillAlive = current.accessToken !== rejected && (current.expiresAt ?? Infinity) > now;
  const { clientId, authorizationServer } = current;
  const needLogin = (why: string): Credential => {
    if (stillAlive) return current;
    throw new LoginRequiredError(server, why, formerLogin(current));
  };
  const nothing = 'The login has ended, and the server gave nothing to renew it with.';
  if (current.refreshToken === undefined && current.grant === undefined) return needLogin(nothing);
  const registration = await store.findRegistration(authorizationServer.issuer, clientId);
  try {
    const result = await renewCredential(context, current, clientOf(current, registration));
    if (result === undefined) return needLogin(nothing);
    if (result.kind === 'refreshed') {
      await keep(store, server, result.credential, current);
      return (await store.findCredential(server)) ?? result.credential;
    }
    if (result.successor !== undefined) await keep(store, server, result.successor, current);
    const { error, isGuess, message } = result.refusal;
    if (isGuess) return needLogin(message);
    if (error !== 'invalid_grant' && error !== 'invalid_client')
      throw new ClientError('token_refused', message);
    const isClientRefused = error === 'invalid_client';
    // The client's secret or key is no longer stored here. The login may still be valid, and works once it is
    // given again.
    if (isClientRefused && registration === undefined && current.grant === undefined)
      return needLogin(
        "The authorization server requires this client's secret or key, which is not stored here.",
      );
    if (isClientRefused && registration?.source === 'dynamic')
      await store.forgetRegistration(authorizationServer.issuer, clientId);
    await store.endCredential(current);
    // A credential that is still stored is newer: the user has logged in meanwhile, or another process was
    // faster (CL-1).
    const newer = await store.findCredential(server);
    if (newer !== undefined) return newer;
  } catch (failure) {
    if (failure instanceof ClientError && stillAlive) return current;
    throw failure;
  }
  throw new LoginRequiredError(
    server,
    'The authorization server no longer accepts this login.',
    formerLogin(current),
  );
}
