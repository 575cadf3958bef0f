import * as oauth from 'oauth4webapi';
import type { ClientIdentity } from '../client/building-blocks.ts';
import { asText, type JsonObject, type NoteSlip } from '../oauth/foreign-json.ts';
import { type Ask, kindOf } from './ask.ts';
import { buildAuthorizationUrl, validateCallback } from './authorization.ts';
import { createUserInfo, identityFromClaims } from './identity.ts';
import {
  findJwtFault,
  idTokenChecks,
  type JwtCheck,
  type JwtContext,
  logoutTokenChecks,
  readJwt,
  skewSeconds,
} from './jwt-checks.ts';
import { createKeySource } from './keys.ts';
import { createMetadataSource, type ServerMetadata } from './metadata.ts';
import type { UpstreamPreset } from './presets.ts';
import { readTokenAnswer, type TokenAnswer } from './token-answer.ts';
import { authenticationMethod, requestOptions, revokeTokens, serverFor } from './token-endpoint.ts';
import type {
  CompletedAuthorization,
  PendingAuthorization,
  Upstream,
  UpstreamIdentity,
  UpstreamSettings,
  UserInfoMapping,
} from './upstream.ts';
import { UpstreamFault, type UpstreamReason } from './upstream-fault.ts';

/** Options of the client of one upstream. */
export interface UpstreamClientOptions {
  name: string;
  /** The settings, completed by the preset. */
  settings: UpstreamSettings;
  preset: UpstreamPreset;
  identity: ClientIdentity;
  callbackUrl: string;
  ask: Ask;
  /** True allows its metadata to name endpoints on this machine without https. */
  dangerouslyFromLoopback: boolean;
  /** Minimum time between two requests for its key set because of an unknown key. */
  keyCooldownMs: number;
  /** Epoch seconds. */
  now: () => number;
  /** Called for each accepted deviation of the upstream from a standard (docs/tolerances.md). */
  tolerated?: NoteSlip | undefined;
}

/** The standard claims of a person (OpenID Connect Core 1.0 section 5.1). */
const standardMapping: UserInfoMapping = {
  subject: 'sub',
  email: 'email',
  emailVerified: 'email_verified',
  name: 'name',
  groups: 'groups',
};

/**
 * Faults that mean that tokens are dead: the upstream rejects them, or sends another JSON object without a usable token.
 * A repeated request would fail in the same way, and a server that rotates refresh tokens has used this one up (FA-29).
 * A refresh token that came alone is used once before that (see `createLinkCheck`). Other faults, such as a page of a
 * proxy or a server that is down, say nothing about the tokens (T-090).
 */
const deadTokens: readonly UpstreamReason[] = [
  'grant_refused',
  'user_info_refused',
  'person_required',
  'token_error',
  'token_malformed',
];

/** Converts a fault to one about the tokens of the request. */
function aboutTokens(error: unknown): never {
  if (!(error instanceof UpstreamFault)) throw error;
  const kind = deadTokens.includes(error.reason) ? 'ended' : 'unavailable';
  const { upstream, reason, successor } = error;
  throw new UpstreamFault(upstream, kind, reason, undefined, { cause: error, successor });
}

/** Returns the issuer of all identities of an upstream; undefined if each tenant has its own. */
function issuerOfAll(settings: UpstreamSettings, preset: UpstreamPreset): string | undefined {
  const { issuer, authorizationEndpoint } = settings;
  if (issuer === undefined) return URL.parse(authorizationEndpoint ?? '')?.origin;
  const published = preset.metadataIssuerOf?.(issuer) ?? issuer;
  return preset.issuerOf ? preset.issuerOf(published, {}) : published;
}

/** Creates the client of one upstream. It sends no request before its first use. */
export function createUpstreamClient(options: UpstreamClientOptions): Upstream {
  const { name, settings, preset, identity, callbackUrl, ask, keyCooldownMs, now, tolerated } = options;
  const metadataSource = createMetadataSource(options);
  const keys = createKeySource(name, ask, keyCooldownMs);
  const userInfo = createUserInfo(name, preset, ask);
  const fault = (reason: UpstreamReason, detail?: string): UpstreamFault =>
    new UpstreamFault(name, kindOf(reason), reason, detail);

  /** Returns the only issuer that tokens with these claims may have; undefined if there is none. */
  function issuerOf(metadata: ServerMetadata, claims: JsonObject): string | undefined {
    return preset.issuerOf ? preset.issuerOf(metadata.issuer, claims) : metadata.issuer;
  }

  async function verify(
    jwt: string,
    checks: readonly JwtCheck[],
    metadata: ServerMetadata,
    belonging: Partial<Pick<JwtContext, 'nonce' | 'accessToken' | 'loggedInSince' | 'mayLackAuthTime'>> = {},
  ): Promise<{ issuer: string; claims: JsonObject }> {
    const read = readJwt(jwt);
    if (!read) throw fault('jwt_malformed');
    const issuer = issuerOf(metadata, read.claims);
    const spelled = issuer === metadata.issuer ? (metadata.spelledIssuer ?? issuer) : issuer;
    const issuers = spelled === undefined ? [] : [spelled, ...(preset.issuerAliases ?? [])];
    const { clientId } = settings;
    const { id_token_signing_alg_values_supported: algorithms, jwks_uri: jwksUri } = metadata;
    const context = { issuers, clientId, algorithms, nowSeconds: now(), ...belonging };
    const reason = findJwtFault(checks, read, context);
    if (reason) throw fault(reason);
    if (jwksUri === undefined || issuer === undefined) throw fault('metadata_endpoint_missing', 'jwks_uri');
    await keys.requireSignature(jwt, jwksUri);
    return { issuer, claims: read.claims };
  }

  async function redeem(
    callback: URLSearchParams,
    { codeVerifier, scopes }: PendingAuthorization,
    metadata: ServerMetadata,
  ): Promise<TokenAnswer> {
    const server = serverFor(identity, metadata, preset, now());
    // The other parameters of the callback were checked before; only the code is used.
    const code = new URLSearchParams({ code: callback.get('code') ?? '' });
    const answer = await oauth.authorizationCodeGrantRequest(
      server.as,
      server.client,
      server.authenticate,
      oauth.validateAuthResponse(server.as, server.client, code, oauth.skipStateCheck),
      callbackUrl,
      codeVerifier,
      requestOptions(ask, 'token endpoint'),
    );
    return readTokenAnswer(name, preset, server, answer, scopes, now(), tolerated);
  }

  async function identify(
    { tokens: { accessToken }, idToken }: TokenAnswer,
    { nonce, loggedInSince }: PendingAuthorization,
    metadata: ServerMetadata,
  ): Promise<{ identity: UpstreamIdentity; sid?: string | undefined }> {
    const { userinfo_endpoint: endpoint } = metadata;
    if (nonce === undefined) {
      if (endpoint === undefined) throw fault('metadata_endpoint_missing', 'userinfo_endpoint');
      const about = { issuer: metadata.issuer, mapping: settings.userInfo ?? standardMapping };
      return { identity: await userInfo.identify(endpoint, accessToken, about) };
    }
    if (idToken === undefined) throw fault('jwt_missing');
    const { mayLackAuthTime } = preset;
    const belonging = { nonce, accessToken, loggedInSince, mayLackAuthTime };
    const { issuer, claims } = await verify(idToken, idTokenChecks, metadata, belonging);
    const asks = endpoint !== undefined && !preset.skipsUserInfo;
    const more = asks ? await userInfo.read(endpoint, accessToken) : {};
    if (asks && more.sub !== claims.sub) throw fault('user_info_subject');
    return { identity: identityFromClaims(issuer, claims, more, preset), sid: asText(claims.sid) };
  }

  return {
    name,
    label: settings.label ?? preset.label,
    settings,
    callbackUrl,
    issuer: issuerOfAll(settings, preset),
    revocationEndsAll: preset.revocationEndsAll === true,
    scopes: settings.scopes ?? [],
    async begin(wishes = {}) {
      const metadata = await metadataSource.read();
      return buildAuthorizationUrl({ settings, preset, metadata, callbackUrl, wishes, nowSeconds: now() });
    },
    async complete(callback, pending): Promise<CompletedAuthorization> {
      const metadata = await metadataSource.read();
      validateCallback(name, callback, pending.state, metadata);
      const answer = await redeem(callback, pending, metadata);
      const { identity: who, sid } = await identify(answer, pending, metadata);
      return { identity: who, tokens: answer.tokens, ...(sid !== undefined && { sid }) };
    },
    async refresh(held) {
      const { refreshToken } = held;
      if (refreshToken === undefined) throw new TypeError('there is no refresh token to renew these with');
      try {
        const metadata = await metadataSource.read();
        const server = serverFor(identity, metadata, preset, now());
        const answer = await oauth.refreshTokenGrantRequest(
          server.as,
          server.client,
          server.authenticate,
          refreshToken,
          requestOptions(ask, 'token endpoint'),
        );
        const { tokens } = await readTokenAnswer(name, preset, server, answer, held.scopes, now(), tolerated);
        return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
      } catch (error) {
        return aboutTokens(error);
      }
    },
    async check({ accessToken }) {
      try {
        const { userinfo_endpoint: endpoint } = await metadataSource.read();
        if (endpoint === undefined || preset.skipsUserInfo) return false;
        await userInfo.read(endpoint, accessToken);
        return true;
      } catch (error) {
        return aboutTokens(error);
      }
    },
    async revoke(tokens) {
      const metadata = await metadataSource.read();
      const endpoint = settings.revocationEndpoint ?? metadata.revocation_endpoint;
      if (endpoint === undefined) return;
      const server = serverFor(identity, metadata, preset, now());
      await revokeTokens({ name, preset, ask, identity, server, endpoint }, tokens);
    },
    async readLogoutToken(jwt) {
      const metadata = await metadataSource.read();
      const { issuer, claims } = await verify(jwt, logoutTokenChecks, metadata);
      const { sub, sid, jti, exp } = claims;
      const expiresAt = Math.ceil(Number(exp)) + skewSeconds;
      return { issuer, subject: asText(sub), sid: asText(sid), jti: String(jti), expiresAt };
    },
    async readMetadata() {
      return (await metadataSource.readAnew()).published;
    },
    async readKeys() {
      const { jwks_uri: jwksUri } = await metadataSource.read();
      if (jwksUri === undefined) return undefined;
      const answer = await ask('key set', jwksUri);
      const document: unknown = await answer.json().catch(() => undefined);
      if (answer.status !== 200 || document === undefined) throw fault('keys_malformed');
      return document;
    },
    async clientAuthentication() {
      return authenticationMethod(identity, await metadataSource.read(), preset);
    },
  };
}
