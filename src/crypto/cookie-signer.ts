import { createHmac } from 'node:crypto';
import { equalSecrets } from './secret.ts';

/** Signs cookies, in the form the `cookies` package takes in the place of a list of keys. */
export interface CookieSigner {
  sign(data: string): string;
  verify(data: string, signature: string): boolean;
  /** Gives 0 for a signature of any of the keys, -1 for all others. */
  index(data: string, signature: string): number;
}

/**
 * Creates a signer (HMAC-SHA-256) over keys that may change in place. A signature of an old key is as good as one of the
 * new: the package would otherwise set it anew while it reads a cookie, at the path `/` whatever that of the cookie is,
 * where it then stands in the way of the next cookie of that name.
 * @param keys the first one signs, every one verifies
 */
export function createCookieSigner(keys: readonly string[]): CookieSigner {
  const signWith = (key: string, data: string): string =>
    createHmac('sha256', key).update(data).digest('base64url');
  const verify = (data: string, signature: string): boolean =>
    keys.some((key) => equalSecrets(signWith(key, data), signature));
  return {
    sign: (data) => signWith(keys[0] ?? '', data),
    verify,
    index: (data, signature) => (verify(data, signature) ? 0 : -1),
  };
}
