import { createPrivateKey, createPublicKey, type JsonWebKey, sign, verify } from 'node:crypto';
import type { JWK } from 'jose';
import type { KeySchedule, ScheduledKey } from './key-schedule.ts';

const sealingKeyBytes = 32;

/** Shortest key that signs cookies and forms, or binds the audit log, in characters. */
const minTextKeyLength = 32;

/** A random key of 32 characters has more different ones than this, but for one in a billion. */
const minDifferentCharacters = 10;

/** The private keys of RFC 7515 appendix A.3 and RFC 7517 appendix A.2: everybody has them (T-163). */
const publishedKeys: ReadonlySet<string> = new Set([
  'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  '870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE',
]);

/** Whether a text could be a random key: an example, a default or a word repeated is not. */
function looksRandom(text: string): boolean {
  return new Set(text).size >= minDifferentCharacters;
}

function isTextKey(key: unknown): boolean {
  return typeof key === 'string' && key.length >= minTextKeyLength && looksRandom(key);
}

function isSealingKey({ id, key }: ScheduledKey<unknown>): boolean {
  if (!/^[\x21-\x7E]{1,255}$/.test(id)) return false;
  return (
    typeof key === 'string' && Buffer.from(key, 'base64url').length === sealingKeyBytes && looksRandom(key)
  );
}

/** Whether a JWK is a private key for ES256 (RFC 7518 sections 3.4, 6.2) whose parts belong together. */
function isSigningKey({ id, key }: ScheduledKey<unknown>): boolean {
  const jwk = key as JWK;
  if (jwk.kty !== 'EC' || jwk.crv !== 'P-256' || typeof jwk.kid !== 'string' || jwk.kid !== id) return false;
  if (typeof jwk.d !== 'string' || publishedKeys.has(jwk.d)) return false;
  const secret = createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' });
  const probe = Buffer.from('gatehouse');
  return verify('sha256', probe, createPublicKey(secret), sign('sha256', probe, secret));
}

function hasTimes({ id, createdAt, activeAt }: ScheduledKey<unknown>): boolean {
  return (
    typeof id === 'string' && id !== '' && Number.isSafeInteger(createdAt) && Number.isSafeInteger(activeAt)
  );
}

/** Whether a list has a key, all of its keys are good, and no two have one id. */
function holds(list: ScheduledKey<unknown>[], rule: (entry: ScheduledKey<unknown>) => boolean): boolean {
  if (!Array.isArray(list) || list.length === 0) return false;
  return (
    list.every((entry) => hasTimes(entry) && rule(entry)) &&
    new Set(list.map(({ id }) => id)).size === list.length
  );
}

/**
 * Says what keeps keys from being used, and names none of them (T-163, T-179).
 * @returns undefined for keys that can be used
 */
export function checkKeys({ sealing, cookies, signing, audit }: KeySchedule): string | undefined {
  if (!holds(sealing, isSealingKey)) return 'each sealing key needs an id and 32 random bytes in base64url';
  if (!holds(cookies, ({ key }) => isTextKey(key)))
    return `each cookie key needs at least ${minTextKeyLength} random characters`;
  if (!holds(signing, isSigningKey))
    return 'each signing key must be a private P-256 JWK with a kid, and nobody else’s';
  if (!isTextKey(audit)) return `the audit key needs at least ${minTextKeyLength} random characters`;
  return undefined;
}
