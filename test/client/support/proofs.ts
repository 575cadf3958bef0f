import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import type { SeenRequest } from './scripted-server.ts';

/** A DPoP proof that was checked. */
export interface CheckedProof {
  jti: string;
  nonce: string | undefined;
  /** Access token hash. */
  ath: string | undefined;
  /** Thumbprint of the key (RFC 7638). */
  jkt: string;
}

function decode(part: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as Record<string, unknown>;
}

/**
 * Checks the proof of a request with Node's own cryptography: form, signature by ES256, method and URL.
 * @param request what the server saw
 * @param origin where it saw it
 * @param now epoch seconds that `iat` has to be
 * @throws Error that says what is wrong
 * @see RFC 9449 section 4.3
 */
export function checkProof(request: SeenRequest, origin: string, now: number): CheckedProof {
  const parts = String(request.headers.dpop ?? '').split('.');
  if (parts.length !== 3) throw new Error('no proof');
  const header = decode(parts[0]);
  const claims = decode(parts[1]);
  const jwk = header.jwk as JsonWebKey;
  if (header.typ !== 'dpop+jwt' || header.alg !== 'ES256' || jwk.d !== undefined) throw new Error('header');
  const signed = Buffer.from(`${parts[0]}.${parts[1]}`);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const signature = Buffer.from(parts[2] ?? '', 'base64url');
  if (!verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)) throw new Error('signature');
  if (claims.htm !== request.method) throw new Error(`htm ${String(claims.htm)}`);
  if (claims.htu !== `${origin}${request.path}`) throw new Error(`htu ${String(claims.htu)}`);
  if (Math.abs(Number(claims.iat) - now) > 2) throw new Error(`iat ${String(claims.iat)}`);
  if (typeof claims.jti !== 'string') throw new Error('jti');
  const { crv, kty, x, y } = jwk;
  return {
    jti: claims.jti,
    nonce: claims.nonce as string | undefined,
    ath: claims.ath as string | undefined,
    jkt: sha256(JSON.stringify({ crv, kty, x, y })),
  };
}

/** @returns the hash as `ath` and `jkt` have it */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
