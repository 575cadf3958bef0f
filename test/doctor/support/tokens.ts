import { randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import type { Reply } from './http.ts';
import type { TestServer } from './server.ts';

/** What a person allowed, with everything issued from it. */
export interface Grant {
  clientId: string;
  scopes: readonly string[];
  resource: string;
  ended: boolean;
}

/** What a bearer may do. */
export interface Bearer {
  scopes: readonly string[];
  audience: string;
}

/** Access and refresh tokens of one server. */
export interface Tokens {
  newGrant(grant: Omit<Grant, 'ended'>): Grant;
  endGrant(grant: Grant): void;
  /** A token answer with new tokens of a grant. */
  answer(grant: Grant): Promise<Reply>;
  /** @returns undefined for a refresh token that is worth nothing */
  refresh(refreshToken: string, clientId: string): Promise<Reply | undefined>;
  revoke(token: string): void;
  /** @returns undefined for an access token that is worth nothing */
  verify(accessToken: string): Bearer | undefined;
}

/** Keeps tokens in memory; the server's rules count at each call. */
export function createTokens(server: TestServer): Tokens {
  const { rules } = server;
  const access = new Map<string, { grant: Grant; revoked: boolean }>();
  const refreshes = new Map<string, { grant: Grant; used?: { atMs: number; answer: Promise<Reply> } }>();

  const answer = async (grant: Grant): Promise<Reply> => {
    const now = Math.floor(Date.now() / 1000) + rules.clockSkewSeconds;
    const accessToken = await new SignJWT({ client_id: grant.clientId, scope: grant.scopes.join(' ') })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1' })
      .setIssuer(server.issuer)
      .setAudience(rules.audience(grant.resource))
      .setSubject('someone')
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + rules.expiresInSeconds)
      .sign(server.key.privateKey);
    access.set(accessToken, { grant, revoked: false });
    const refreshToken = `rt-${randomUUID()}`;
    if (rules.issuesRefreshTokens) refreshes.set(refreshToken, { grant });
    return {
      headers: { 'cache-control': 'no-store' },
      json: {
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: rules.expiresInSeconds,
        scope: grant.scopes.join(' '),
        ...(rules.issuesRefreshTokens ? { refresh_token: refreshToken } : {}),
      },
    };
  };

  return {
    newGrant: (grant) => ({ ...grant, ended: false }),
    endGrant(grant) {
      grant.ended = true;
    },
    answer,
    async refresh(refreshToken, clientId) {
      const held = refreshes.get(refreshToken);
      if (!held || held.grant.ended || held.grant.clientId !== clientId) return undefined;
      if (held.used) {
        if (Date.now() - held.used.atMs < rules.refreshGraceMs)
          return rules.repeatsWithinGrace ? held.used.answer : answer(held.grant);
        if (rules.detectsReuse) {
          held.grant.ended = true;
          return undefined;
        }
      }
      if (!rules.rotatesRefreshTokens) {
        const fresh = await answer(held.grant);
        return { ...fresh, json: { ...(fresh.json as object), refresh_token: refreshToken } };
      }
      // Marked before the answer exists, so that parallel requests share it.
      held.used = { atMs: Date.now(), answer: answer(held.grant) };
      return held.used.answer;
    },
    revoke(token) {
      const held = access.get(token);
      if (held) held.revoked = true;
      const refresh = refreshes.get(token);
      if (refresh) refresh.grant.ended = true;
    },
    verify(accessToken) {
      const held = access.get(accessToken);
      if (!held || (rules.revocationCounts && (held.revoked || held.grant.ended))) return undefined;
      const { aud = '' } = decodeJwt(accessToken);
      const audience = String(aud);
      if (rules.checksAudience && audience !== server.url) return undefined;
      return { scopes: held.grant.scopes, audience };
    },
  };
}
