import { ClientError, LoginRequiredError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { formerLogin } from '../session/former-login.ts';
import { type Credential, type CredentialStore, credentialKey } from '../stores/credential-store.ts';
import { holderOf, renewCredential } from './renewal.ts';
import { refreshAheadSeconds } from './token-response.ts';

/**
 * Credentials that were renewed and could not be kept, by the refresh token they were renewed with: that one is used up,
 * and sending it again would look like theft (RFC 9700 section 4.14.2).
 */
const unsaved = new WeakMap<CredentialStore, Map<string, Credential>>();

/** Keeps a renewed credential; one that the store does not take now is kept here until it does. */
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

/** @returns what a credential of the store was renewed to already, now kept; the credential itself if it was not */
async function withSuccessor(store: CredentialStore, server: string, held: Credential): Promise<Credential> {
  const successor = unsaved.get(store)?.get(held.refreshToken ?? '');
  if (successor === undefined) return held;
  // The store may not take it now either; it is good all the same.
  await keep(store, server, successor, held).catch(() => undefined);
  return successor;
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
    const result = await renewCredential(context, current, holderOf(current, registration));
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
    // What it proves itself with is not here any more: the login may be good still, and is once that is given again.
    if (isClientRefused && registration === undefined && current.grant === undefined)
      return needLogin(
        'The authorization server does not take this client without what it proves itself with.',
      );
    if (isClientRefused && registration?.source === 'dynamic')
      await store.forgetRegistration(authorizationServer.issuer, clientId);
    await store.endCredential(current);
    // What is still there is newer: the user has logged in meanwhile, or somebody else was faster (CL-1).
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
