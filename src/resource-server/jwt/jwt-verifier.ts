import { type CompactVerifyGetKey, compactVerify, decodeJwt, decodeProtectedHeader } from 'jose';
import { type AuthInfo, readActors, readLogin } from '../../oauth/auth-info.ts';
import { parseScope } from '../../oauth/scope.ts';
import type { TokenVerifier } from '../token-verifier.ts';
import { createIssuerKeys, IssuerKeysUnavailable } from './issuer-keys.ts';
import {
  checkJwtClaims,
  checkJwtHeader,
  type JwtPart,
  keyThumbprintOf,
  tokenAlgorithms,
} from './jwt-checks.ts';

/** An issuer whose tokens are accepted. */
export interface TrustedIssuer {
  /** Issuer identifier, exactly as in `iss`. */
  issuer: string;
  /** URL of its keys (`jwks_uri` of its metadata). */
  jwksUrl: string;
}

/** Options of {@link createJwtVerifier}. */
export interface JwtVerifierOptions {
  /** The only accepted issuers. */
  issuers: readonly TrustedIssuer[];
  /** Resource identifier that `aud` has to contain. */
  resource: string;
  /** Returns epoch seconds; default is the system clock. */
  now?: () => number;
  /** Fetches keys; default is the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

/** Maximum length of a token, in characters. */
const maxLength = 8192;

/**
 * Creates the verifier of JWT access tokens (RFC 9068) for a resource server apart from its issuer. Cheap checks come
 * first: header, issuer and claims, then the key and the signature. No key is ever taken from the token, or from a URL
 * in it. A revoked token is accepted until it expires; introspection (RFC 7662) avoids that.
 * @see RFC 9068 section 4; RFC 8725 (A12-11, T-097, T-098, T-099, T-100)
 */
export function createJwtVerifier(options: JwtVerifierOptions): TokenVerifier {
  const { resource, now = () => Math.floor(Date.now() / 1000), fetch = globalThis.fetch } = options;
  const keysOf = new Map<unknown, CompactVerifyGetKey>(
    options.issuers.map(({ issuer, jwksUrl }) => [issuer, createIssuerKeys({ jwksUrl, fetch })]),
  );
  return {
    async verify(token) {
      const read = readToken(token);
      if (!read || checkJwtHeader(read.header)) return undefined;
      const keys = keysOf.get(read.claims.iss);
      if (!keys || checkJwtClaims(read.claims, { resource, nowSeconds: now() })) return undefined;
      try {
        await compactVerify(token, keys, { algorithms: [...tokenAlgorithms] });
      } catch (error) {
        if (error instanceof IssuerKeysUnavailable) throw error;
        return undefined;
      }
      return describeCaller(read.claims, resource);
    },
  };
}

function readToken(token: string): { header: JwtPart; claims: JwtPart } | undefined {
  if (token.length > maxLength) return undefined;
  try {
    return { header: { ...decodeProtectedHeader(token) }, claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

function describeCaller(claims: JwtPart, resource: string): AuthInfo {
  const keyThumbprint = keyThumbprintOf(claims.cnf);
  return Object.freeze({
    issuer: String(claims.iss),
    subject: String(claims.sub),
    clientId: String(claims.client_id),
    scopes: Object.freeze(parseScope(claims.scope as string | undefined)),
    audience: resource,
    expiresAt: Number(claims.exp),
    ...(keyThumbprint === undefined ? {} : { keyThumbprint }),
    ...readLogin(claims),
    ...readActors(claims.act),
  });
}
