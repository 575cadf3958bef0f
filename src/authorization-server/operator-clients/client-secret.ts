import { hash } from 'node:crypto';
import { equalSecrets } from '../../crypto/secret.ts';

/** Prefix of a stored hash. */
const prefix = 'sha256:';

/** Shortest secret an operator may choose: 32 characters of base64 or hex have 128 bits and more. */
const minSecretLength = 32;

/**
 * Hashes a client secret for storage. A plain hash is enough for a long random value. It is compared on every request
 * of the client, and a slow hash would let callers keep the server busy.
 * @returns `sha256:` and 64 hexadecimal digits, as `sha256sum` prints them
 */
export function hashClientSecret(secret: string): string {
  return `${prefix}${hash('sha256', secret, 'hex')}`;
}

/** @returns whether a text is what {@link hashClientSecret} gives */
export function isClientSecretHash(text: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}

/**
 * Compares what a client sent with its stored hash, in the same time for all that is wrong (T-048).
 * @param stored what {@link hashClientSecret} gave
 */
export function matchesClientSecret(stored: string, sent: string): boolean {
  return equalSecrets(stored, hashClientSecret(sent));
}

/** @returns what is wrong with a secret that an operator chose, as the end of a sentence; undefined for a good one */
export function checkChosenSecret(secret: string): string | undefined {
  if (secret.length < minSecretLength)
    return `must have at least ${minSecretLength} characters; make one with: openssl rand -hex 32`;
  if (!/^[\x21-\x7e]+$/.test(secret)) return 'may have printable ASCII characters only, and no spaces';
  return undefined;
}
