import { createHmac } from 'node:crypto';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';

/** A signing key of a stand-in. */
export interface UpstreamKey {
  kid: string;
  /** For its key set, and for an engine. */
  privateJwk: JWK;
  publicJwk: JWK;
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
}

/** Makes one, RS256 as nearly all providers have it. */
export async function createUpstreamKey(): Promise<UpstreamKey> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const kid = (await calculateJwkThumbprint(await exportJWK(publicKey))).slice(0, 12);
  const named = { kid, alg: 'RS256', use: 'sig' };
  return {
    kid,
    privateJwk: { ...(await exportJWK(privateKey)), ...named },
    publicJwk: { ...(await exportJWK(publicKey)), ...named },
    sign: (claims, header = {}) => signWith(privateKey, claims, { alg: 'RS256', kid, ...header }),
  };
}

/** Signs claims just as they are. */
function signWith(key: CryptoKey, claims: JWTPayload, header: Record<string, unknown>): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', ...header }).sign(key);
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT that nobody signed (RFC 8725 section 2.1). */
export function unsigned(claims: JWTPayload): string {
  return `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;
}

/** A JWT signed by a secret, under whatever the header says. */
export function signedBySecret(
  claims: JWTPayload,
  secret: string,
  header: Record<string, unknown> = {},
): string {
  const text = `${encode({ alg: 'HS256', typ: 'JWT', ...header })}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** The claims of a JWT, unchecked. */
export function claimsOf(jwt: string): JWTPayload {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as JWTPayload;
}
