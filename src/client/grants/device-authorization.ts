import * as oauth from 'oauth4webapi';
import { formatScope } from '../../oauth/scope.ts';
import { chooseScopes } from '../authorization/authorization.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import {
  clientAuthentication,
  exchangeOptions,
  oauthClient,
  readRefusal,
  resourceParameter,
} from '../oauth-client.ts';
import type { Credential, Registration } from '../stores/credential-store.ts';
import { chooseDpopKey } from '../tokens/dpop.ts';
import {
  credentialIssuer,
  grantTypes,
  requestTokens,
  type TokenAnswer,
  toCredential,
} from '../tokens/token-request.ts';
import { isLocalAddress, requireUrl } from '../url-policy.ts';
import { grantRefused } from './grant-login.ts';

/** Interval of polls if the server sets none, in seconds (RFC 8628 section 3.2). */
const defaultIntervalSeconds = 5;

/** Minimum interval of polls, in seconds. */
const minIntervalSeconds = 1;

/** Maximum wait for the user, in seconds. */
const maxWaitSeconds = 1800;

/** The instructions for the user: open the URL on any device, and enter the code there. */
export interface DeviceInstructions {
  /** Printable ASCII. */
  userCode: string;
  url: string;
  /** The URL with the code in it, for a link or a QR code. */
  completeUrl?: string | undefined;
  /** Epoch seconds. */
  expiresAt: number;
}

/** Options of {@link loginWithDevice}. */
export interface DeviceLoginOptions {
  /** Shows the instructions to the user; called once. */
  show: (instructions: DeviceInstructions) => void | Promise<void>;
  /** Scopes to request instead of those that the server names. */
  scopes?: readonly string[] | undefined;
  /** Binds the token to a key of this client. If undefined, only if the server requires it (A13-11). */
  dpop?: boolean | undefined;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

/**
 * Logs in with a code that the user enters on another device.
 * @param context fetch, clock and limits
 * @param found the result of discovery; its authorization server has to have a device authorization endpoint
 * @param registration the client, registered for the device code grant
 * @param options how to show the code, and the scopes to request
 * @returns the credential, for the caller to store
 * @throws ClientError `no_metadata` if the server offers no device login, `authorization_denied`,
 *   `login_timed_out`, `client_unknown` also if the client is not registered for this grant, those of
 *   `grantRefused`; the reason of the signal
 * @see RFC 8628 sections 3.1 to 3.5; RFC 8707 section 2 (A7-01)
 */
export async function loginWithDevice(
  context: ClientContext,
  found: DiscoveredServer,
  registration: Registration,
  options: DeviceLoginOptions,
): Promise<Credential> {
  const { authorizationServer, resource, withoutResource } = found;
  const { signal } = options;
  const scopes = chooseScopes(found, options.scopes);
  const device = await requestDeviceCode(context, found, registration, scopes);
  const dpopKey = await chooseDpopKey(found, options.dpop);
  signal?.throwIfAborted();
  await options.show(device.instructions);
  const parameters = { device_code: device.deviceCode, ...resourceParameter(found) };
  const request = {
    authorizationServer,
    client: registration,
    grantType: grantTypes.deviceCode,
    parameters,
    dpopKey,
  };
  const tokens = await pollForTokens(context, () => requestTokens(context, request), {
    intervalSeconds: device.intervalSeconds,
    expiresAt: device.instructions.expiresAt,
    wait: (seconds) => waitFor(seconds, signal),
  });
  return toCredential(tokens, {
    authorizationServer: credentialIssuer(authorizationServer),
    resource,
    withoutResource,
    clientId: registration.clientId,
    scopes: scopes.length === 0 ? undefined : scopes,
    dpopKey,
    now: context.now(),
  });
}

/** @see RFC 8628 sections 3.1 and 3.2 (T-182) */
async function requestDeviceCode(
  context: ClientContext,
  found: DiscoveredServer,
  registration: Registration,
  scopes: readonly string[],
): Promise<{ deviceCode: string; intervalSeconds: number; instructions: DeviceInstructions }> {
  const { authorizationServer: as, server } = found;
  if (as.device_authorization_endpoint === undefined)
    throw new ClientError(
      'no_metadata',
      `The authorization server ${as.issuer} offers no login by device code.`,
    );
  const client = oauthClient(context, registration.clientId);
  const authenticate = clientAuthentication(registration, as.token_endpoint_auth_methods_supported);
  const asked = {
    ...resourceParameter(found),
    ...(scopes.length === 0 ? {} : { scope: formatScope(scopes) }),
  };
  const parameters = new URLSearchParams(asked as Record<string, string>);
  const rules = {
    dangerouslyAllowHttp: context.dangerouslyAllowHttp,
    allowLocal: isLocalAddress(new URL(server).hostname),
  };
  try {
    const answer = await oauth.processDeviceAuthorizationResponse(
      as,
      client,
      await oauth.deviceAuthorizationRequest(
        as,
        client,
        authenticate,
        parameters,
        exchangeOptions(context, { kind: 'device' }),
      ),
    );
    const { user_code: userCode, verification_uri_complete: complete } = answer;
    if (!/^[\x20-\x7E]{1,64}$/.test(userCode))
      throw new ClientError('token_refused', 'The authorization server sent a code that cannot be typed.');
    const url = requireUrl(answer.verification_uri, 'The page for the code', rules).href;
    const completeUrl =
      complete === undefined ? undefined : requireUrl(complete, 'The page for the code', rules).href;
    return {
      deviceCode: answer.device_code,
      intervalSeconds: Math.max(answer.interval ?? defaultIntervalSeconds, minIntervalSeconds),
      instructions: {
        userCode,
        url,
        completeUrl,
        expiresAt: context.now() + Math.min(answer.expires_in, maxWaitSeconds),
      },
    };
  } catch (thrown) {
    const refusal = await readRefusal(thrown, 'device authorization endpoint');
    if (refusal.error === 'unauthorized_client') throw new ClientError('client_unknown', refusal.message);
    throw grantRefused(refusal);
  }
}

async function waitFor(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = (): void => reject(signal?.reason);
  const timer = setTimeout(resolve, seconds * 1000);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Additional wait after `slow_down`, in seconds (RFC 8628 section 3.5). */
const slowDownSeconds = 5;

/** The interval and the end of a series of polls. */
export interface DevicePolling {
  /** The interval of the server, in seconds. */
  intervalSeconds: number;
  /** Expiry of the code, epoch seconds. */
  expiresAt: number;
  /** Waits for that many seconds; rejects if the caller aborts. */
  wait: (seconds: number) => Promise<void>;
}

/** Checks if a later poll may succeed after this failure. */
function isPassing(error: unknown): boolean {
  return error instanceof ClientError && (error.reason === 'timed_out' || error.reason === 'unreachable');
}

const expired = (): ClientError =>
  new ClientError('login_timed_out', 'The code was not entered in time. Log in again for a new one.');

/**
 * Polls a token endpoint at the server's pace, until the user has entered the code. After a failed connection
 * the interval doubles each time.
 * @param context its clock
 * @param poll sends one request
 * @param polling interval and end
 * @throws ClientError `authorization_denied`, `login_timed_out`, and those of `grantRefused`; the rejection
 *   of `wait`
 * @see RFC 8628 sections 3.4 and 3.5
 */
export async function pollForTokens(
  context: ClientContext,
  poll: () => Promise<TokenAnswer>,
  polling: DevicePolling,
): Promise<Extract<TokenAnswer, { kind: 'issued' }>['tokens']> {
  let interval = polling.intervalSeconds;
  for (;;) {
    if (context.now() + interval > polling.expiresAt) throw expired();
    await polling.wait(interval);
    const answer = await poll().catch((error: unknown) => {
      if (!isPassing(error)) throw error;
      interval *= 2;
      return undefined;
    });
    if (answer === undefined) continue;
    if (answer.kind === 'issued') return answer.tokens;
    const { error } = answer.refusal;
    if (error === 'slow_down') interval += slowDownSeconds;
    else if (error === 'expired_token') throw expired();
    else if (error === 'access_denied')
      throw new ClientError('authorization_denied', 'The login was declined on the other device.', {
        oauthError: error,
      });
    else if (error !== 'authorization_pending') throw grantRefused(answer.refusal);
  }
}
