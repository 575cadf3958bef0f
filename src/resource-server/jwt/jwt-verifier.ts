import { type CompactVerifyGetKey, compactVerify, decodeJwt, decodeProtectedHeader } from 'jose';
import type { AuthInfo } from '../../oauth/auth-info.ts';
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

/** An issuer whose tokens are taken. */
export interface TrustedIssuer {
  /** Its identifier, as `iss` has it, letter by letter. */
  issuer: string;
  /** Where its keys are (`jwks_uri` of its metadata). */
  jwksUrl: string;
}

/** What a verifier of JWTs is made of. */
export interface JwtVerifierOptions {
  /** Whose tokens are taken; nobody else's. */
  issuers: readonly TrustedIssuer[];
  /** The resource's own identifier, which `aud` has to name. */
  resource: string;
  /** Epoch seconds; the clock of the machine by default. */
  now?: () => number;
  /** Fetches keys; the runtime's own by default. */
  fetch?: typeof globalThis.fetch;
}

/** Longest token looked at, in characters. */
const maxLength = 8192;

/**
 * Creates the verifier of JWT access tokens (RFC 9068) for a resource server that does not stand beside its issuer. What
 * is cheap is looked at first: header, issuer and claims, and only then a key is found and the signature checked. No key
 * is ever taken from the token itself, or from where it points to. A token that was revoked is taken until it expires:
 * who needs more asks the issuer (RFC 7662).
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
  });
}
