import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { JWK } from 'jose';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { callerClaims } from '../../oauth/caller-fields.ts';

/** Returns a signed assertion about the caller of one request. */
export type AssertCaller = (caller: AuthInfo) => string;

/** Type of the assertion (`typ`): no access token or ID token has it (RFC 8725 section 3.11). */
const assertionType = 'caller+jwt';

/** Lifetime of an assertion, in seconds. A request may wait that long until a program has started. */
const assertionSeconds = 300;

/**
 * Maximum length of the values in an assertion that is a header, in bytes. Encoded and with the other claims it has about
 * 4 KiB, and servers often reject more than 8 KiB of headers.
 */
export const maxHeaderClaims = 2_300;

/** Options of {@link createAssertCaller}. */
export interface AssertCallerOptions {
  /** The public URL. */
  issuer: string;
  /** The backend: its URL, or that of the route of a program. */
  audience: string;
  /** Private keys for ES256, the current one first; read for each assertion. `/jwks` has the public ones. */
  signing: readonly JWK[];
  /** Maximum length of the values of its claims, in bytes; see `callerClaims`. */
  maxBytes?: number | undefined;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Creates the assertions for one backend. They are never the caller's token, and no other server accepts them. Each is
 * signed at once, without a turn of the event loop, because it belongs to one request.
 */
export function createAssertCaller({
  issuer,
  audience,
  signing,
  maxBytes,
  now,
}: AssertCallerOptions): AssertCaller {
  return (caller) => {
    const iat = now();
    return signJwt(signing, {
      ...callerClaims(caller, maxBytes),
      iss: issuer,
      aud: audience,
      iat,
      exp: iat + assertionSeconds,
      jti: randomUUID(),
    });
  };
}

/** Default of {@link AssertCaller}. @throws TypeError always */
export function assertWithoutKeys(): never {
  throw new TypeError('caller.assertion needs the signing keys of an installation');
}

const imported = new WeakMap<JWK, KeyObject>();

function signJwt([jwk]: readonly JWK[], claims: Readonly<Record<string, unknown>>): string {
  if (!jwk) throw new TypeError('there is no signing key');
  const key = imported.get(jwk) ?? createPrivateKey({ key: jwk, format: 'jwk' });
  imported.set(jwk, key);
  const signed = [{ alg: 'ES256', typ: assertionType, kid: jwk.kid }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  // RFC 7518 section 3.4: both numbers one after the other, without ASN.1.
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
