import * as oauth from 'oauth4webapi';
import { equalSecrets } from '../crypto/secret.ts';
import { kindOf } from './ask.ts';
import type { ServerMetadata } from './metadata.ts';
import type { UpstreamPreset } from './presets.ts';
import type { AuthorizationWishes, PendingAuthorization, UpstreamSettings } from './upstream.ts';
import { UpstreamFault, type UpstreamReason } from './upstream-fault.ts';

/** Options of {@link buildAuthorizationUrl}. */
export interface AuthorizationUrlOptions {
  settings: UpstreamSettings;
  preset: UpstreamPreset;
  metadata: ServerMetadata;
  callbackUrl: string;
  wishes: AuthorizationWishes;
  /** Epoch seconds. */
  nowSeconds: number;
}

/** Checks if an upstream issues ID tokens: it publishes keys, and `openid` is requested. */
function givesIdTokens({ jwks_uri: keys }: ServerMetadata, scopes: readonly string[]): boolean {
  return keys !== undefined && scopes.includes('openid');
}

function promptOf(
  { prompt, holdsRefreshToken = false }: AuthorizationWishes,
  { prompts = {}, consentForRefreshToken = false }: UpstreamPreset,
): string | undefined {
  const wished = prompt && (prompts[prompt] ?? prompt);
  if (wished === 'none' || !consentForRefreshToken || holdsRefreshToken) return wished;
  return [...new Set([wished, 'consent'])].filter((part) => part !== undefined).join(' ');
}

/**
 * Builds an authorization request with state, PKCE, and a nonce if an ID token is requested (RFC 6749 section
 * 4.1.1, RFC 7636, RFC 9700 section 2.1).
 */
export async function buildAuthorizationUrl(
  options: AuthorizationUrlOptions,
): Promise<{ url: string; pending: PendingAuthorization }> {
  const { settings, preset, metadata, callbackUrl, wishes, nowSeconds } = options;
  const scopes = [...new Set([...(settings.scopes ?? []), ...(wishes.scopes ?? [])])];
  const state = oauth.generateRandomState();
  const codeVerifier = oauth.generateRandomCodeVerifier();
  const nonce = givesIdTokens(metadata, scopes) ? oauth.generateRandomNonce() : undefined;
  // Only an ID token contains the time of the login.
  const maxAge = nonce === undefined ? undefined : wishes.maxAgeSeconds;
  const parameters: Readonly<Record<string, string | undefined>> = {
    ...settings.authorizationParameters,
    prompt: promptOf(wishes, preset) ?? settings.authorizationParameters.prompt,
    max_age: maxAge === undefined ? settings.authorizationParameters.max_age : String(maxAge),
    login_hint: wishes.loginHint,
    ui_locales: wishes.uiLocales,
    client_id: settings.clientId,
    response_type: 'code',
    redirect_uri: callbackUrl,
    scope: scopes.length > 0 ? scopes.join(' ') : undefined,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  };
  const url = new URL(metadata.authorization_endpoint);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  return {
    url: url.href,
    pending: {
      state,
      ...(nonce !== undefined && { nonce }),
      codeVerifier,
      scopes,
      ...(maxAge !== undefined && { loggedInSince: nowSeconds - maxAge }),
    },
  };
}

/** The callback parameters that are used. */
const parameters = ['code', 'state', 'iss', 'error'] as const;

/** Errors of the upstream itself, which do not concern the person (RFC 6749 section 4.1.2.1). */
const passingErrors = ['temporarily_unavailable', 'server_error'];

/** Errors that mean that the person, or the upstream, denied the request. */
const denials = ['access_denied', 'user_cancelled_login', 'user_denied'];

/** Error codes that faults may name; other codes are foreign text. */
const namedErrors = [
  'consent_required',
  'interaction_required',
  'invalid_request',
  'invalid_scope',
  'login_required',
  'unauthorized_client',
  'unsupported_response_type',
];

function findFault(
  callback: URLSearchParams,
  expectedState: string,
  {
    issuer: set,
    spelledIssuer: issuer = set,
    authorization_response_iss_parameter_supported: namesItself,
  }: ServerMetadata,
): { reason: UpstreamReason; detail?: string | undefined } | undefined {
  if (parameters.some((name) => callback.getAll(name).length > 1)) return { reason: 'callback_malformed' };
  if (!equalSecrets(callback.get('state') ?? '', expectedState)) return { reason: 'callback_state' };
  const iss = callback.get('iss');
  if (iss === null && namesItself === true) return { reason: 'callback_issuer_missing' };
  // An issuer with a placeholder stands for many: the issuer of the ID token is compared instead.
  if (iss !== null && iss !== issuer && !issuer.includes('{')) return { reason: 'callback_issuer' };
  const error = callback.get('error');
  if (error === null) return callback.get('code') ? undefined : { reason: 'callback_malformed' };
  if (denials.includes(error)) return { reason: 'denied' };
  if (passingErrors.includes(error)) return { reason: 'server_error', detail: 'callback' };
  return { reason: 'callback_error', detail: namedErrors.includes(error) ? error : undefined };
}

/**
 * Checks the callback of a login before any request is sent: it has the state of this login, comes from this
 * upstream (RFC 9207 section 2.4; T-087), and is no error.
 * @param name of the upstream
 * @param callback its parameters
 * @param expectedState the state of the login
 * @throws UpstreamFault
 */
export function validateCallback(
  name: string,
  callback: URLSearchParams,
  expectedState: string,
  metadata: ServerMetadata,
): void {
  const found = findFault(callback, expectedState, metadata);
  if (found) throw new UpstreamFault(name, kindOf(found.reason), found.reason, found.detail);
}
