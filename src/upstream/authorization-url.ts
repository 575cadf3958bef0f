import * as oauth from 'oauth4webapi';
import type { ServerMetadata } from './metadata.ts';
import type { UpstreamPreset } from './presets/preset.ts';
import type { AuthorizationWishes, PendingAuthorization } from './upstream.ts';
import type { UpstreamSettings } from './upstream-settings.ts';

/** What an authorization request is made of. */
export interface AuthorizationUrlOptions {
  settings: UpstreamSettings;
  preset: UpstreamPreset;
  metadata: ServerMetadata;
  callbackUrl: string;
  wishes: AuthorizationWishes;
  /** Epoch seconds. */
  nowSeconds: number;
}

/** Whether an upstream gives ID tokens: it publishes keys, and is asked for one. */
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
 * Builds an authorization request with everything by which its answer is recognized: state, PKCE, and a nonce where an ID
 * token comes back (RFC 6749 section 4.1.1, RFC 7636, RFC 9700 section 2.1).
 */
export async function buildAuthorizationUrl(
  options: AuthorizationUrlOptions,
): Promise<{ url: string; pending: PendingAuthorization }> {
  const { settings, preset, metadata, callbackUrl, wishes, nowSeconds } = options;
  const scopes = [...new Set([...(settings.scopes ?? []), ...(wishes.scopes ?? [])])];
  const state = oauth.generateRandomState();
  const codeVerifier = oauth.generateRandomCodeVerifier();
  const nonce = givesIdTokens(metadata, scopes) ? oauth.generateRandomNonce() : undefined;
  // Only an ID token says when the login was.
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
