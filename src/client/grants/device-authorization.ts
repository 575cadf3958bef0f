import * as oauth from 'oauth4webapi';
import { formatScope } from '../../oauth/scope.ts';
import { chooseScopes } from '../authorization/authorization.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import { chooseDpopKey } from '../dpop/dpop-key.ts';
import { clientAuthentication, exchangeOptions, oauthClient, readRefusal } from '../exchange.ts';
import { isLocalAddress } from '../local-address.ts';
import { resourceParameter } from '../resource-parameter.ts';
import type { Credential, Registration } from '../stores/credential-store.ts';
import { grantTypes, requestTokens } from '../tokens/token-request.ts';
import { credentialIssuer, toCredential } from '../tokens/token-response.ts';
import { requireUrl } from '../url-policy.ts';
import { pollForTokens } from './device-polling.ts';
import { grantRefused } from './grant-login.ts';

/** Pace of polls where the server names none, in seconds (RFC 8628 section 3.2). */
const defaultIntervalSeconds = 5;

/** No server is asked more often than this, in seconds. */
const minIntervalSeconds = 1;

/** No user is waited for longer than this, in seconds. */
const maxWaitSeconds = 1800;

/** What the user has to do: open the URL on any device, enter the code there. */
export interface DeviceInstructions {
  /** Printable ASCII. */
  userCode: string;
  url: string;
  /** Has the code in it already, for a link or a QR code. */
  completeUrl?: string | undefined;
  /** Epoch seconds. */
  expiresAt: number;
}

/** What the caller of a device login chooses. */
export interface DeviceLoginOptions {
  /** Tells the user; called once. */
  show: (instructions: DeviceInstructions) => void | Promise<void>;
  /** Scopes to ask for instead of those the server names. */
  scopes?: readonly string[] | undefined;
  /** Whether the token is bound to a key of this client; where absent, only if the server takes no other (A13-11). */
  dpop?: boolean | undefined;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
}

/**
 * Logs in with a code that the user enters on another device.
 * @param context fetch, clock and limits
 * @param found what discovery found; its authorization server has to have a device authorization endpoint
 * @param registration the client, registered for the device code grant
 * @param options how the user is told, and what to ask for
 * @returns the credential, for the caller to keep
 * @throws ClientError `no_metadata` where the server offers no device login, `authorization_denied`, `login_timed_out`,
 *   `client_unknown` also where the client is not registered for this grant, those of `grantRefused`; what the signal gives as its reason
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
      throw new ClientError('token_refused', 'The authorization server gave a code that nobody can type.');
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
