import { createHmac, hash, randomFillSync, timingSafeEqual } from 'node:crypto';

/** Random bytes in stock: to ask the generator for a few takes nearly as long as for many. */
const stock = Buffer.allocUnsafeSlow(8_192);
let used = stock.length;

/**
 * Returns fresh random bytes out of the stock; no byte is given twice.
 * @param bytes at most 1,024
 * @returns a view that is overwritten by later random bytes: copy what is to last
 */
export function takeRandom(bytes: number): Buffer {
  if (bytes > 1_024) throw new RangeError('at most 1,024 random bytes at once');
  if (used + bytes > stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  used += bytes;
  return stock.subarray(used - bytes, used);
}

/**
 * @param bytes entropy in bytes; 32 by default
 * @returns a fresh random secret, base64url
 */
export function randomSecret(bytes = 32): string {
  return takeRandom(bytes).toString('base64url');
}

/** Digits of a date: milliseconds in base 36, in whose order texts are in that of time. Nine are enough for 3,200 years. */
const dateDigits = 9;
const datedShape = /^[0-9a-z]{9}-[\w-]{43}$/;

/**
 * A secret that begins with a date. Its stored name does as well: what is stored one after the other then stands side by
 * side in an index, where by hashes alone each would be on another page, to be written anew.
 * @param atMs epoch milliseconds
 * @param secret 256 bits that nobody can guess, base64url
 */
export function datedSecret(atMs: number, secret: string): string {
  return `${atMs.toString(36).padStart(dateDigits, '0')}-${secret}`;
}

/**
 * The name under which a bearer secret is stored. The kind is part of what is hashed, so that a secret of one
 * kind never finds a row of another (T-031). A plain hash is enough: the secrets have 128 bits or more. In front of it
 * stands the date of a dated one.
 * @param kind what the secret is (a model name)
 * @param secret the value a client holds
 */
export function hashSecret(kind: string, secret: string): string {
  const name = hash('sha256', `${kind}\0${secret}`, 'base64url');
  return datedShape.test(secret) ? secret.slice(0, dateDigits) + name : name;
}

/**
 * A keyed digest that ties a form to the page it was served on.
 * @param key any secret string of this installation
 * @param parts what the digest stands for; parts cannot run into each other
 */
export function keyedDigest(key: string, ...parts: string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

/** Compares two strings in a time that depends on their lengths only. */
export function equalSecrets(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Returns a short mark of an account for URLs that pass through other hands: it tells whether somebody is that account, and
 * not which one it is. It is no secret and opens nothing.
 * @returns 16 hexadecimal digits
 */
export function accountMark(accountId: string): string {
  return hash('sha256', `account mark\0${accountId}`, 'hex').slice(0, 16);
}

/** Signs cookies, in the form the `cookies` package takes in the place of a list of keys. */
export interface CookieSigner {
  sign(data: string): string;
  verify(data: string, signature: string): boolean;
  /** Returns 0 for a signature of any of the keys, -1 for all others. */
  index(data: string, signature: string): number;
}

/**
 * Creates a signer (HMAC-SHA-256) over keys that may change in place. A signature of an old key is as good as one of the
 * new: the package would otherwise set it anew while it reads a cookie, at the path `/` whatever that of the cookie is,
 * if it then stands in the way of the next cookie of that name.
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
