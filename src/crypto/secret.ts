import { createHmac, hash, randomFillSync, timingSafeEqual } from 'node:crypto';

/** Buffered random bytes: a call of the generator for a few takes nearly as long as for many. */
const stock = Buffer.allocUnsafeSlow(8_192);
let used = stock.length;

/**
 * Returns random bytes from the buffer; no byte is returned twice.
 * @param bytes at most 1,024
 * @returns a view that later calls overwrite: copy it to keep it
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

/** Number of base-36 digits of a date in milliseconds, which sort by time; enough for 3,200 years. */
const dateDigits = 9;
const datedShape = /^[0-9a-z]{9}-[\w-]{43}$/;

/**
 * Creates a secret that begins with a date, as does its stored name: names stored one after the other are neighbours in
 * an index, whereas plain hashes would each write another page.
 * @param atMs epoch milliseconds
 * @param secret 256 random bits, base64url
 */
export function datedSecret(atMs: number, secret: string): string {
  return `${atMs.toString(36).padStart(dateDigits, '0')}-${secret}`;
}

/**
 * Returns the name under which a bearer secret is stored. The kind is part of the hashed text, so that a secret of one
 * kind never finds a row of another (T-031). A plain hash is sufficient: the secrets have 128 bits or more. The date of
 * a dated secret precedes the hash.
 * @param kind model name of the secret
 * @param secret the value that a client holds
 */
export function hashSecret(kind: string, secret: string): string {
  const name = hash('sha256', `${kind}\0${secret}`, 'base64url');
  return datedShape.test(secret) ? secret.slice(0, dateDigits) + name : name;
}

/**
 * Returns a keyed digest of values, by which this installation knows them again.
 * @param key any secret string of this installation
 * @param parts the values, which are encoded unambiguously; the first says what they are for
 */
export function keyedDigest(key: string, ...parts: (string | number)[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

/** Compares two strings in a time that depends only on their lengths. */
export function equalSecrets(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Returns a short mark of an account for URLs that pass through other parties: it can be compared with a known account,
 * but does not reveal the account. It is no secret and grants nothing.
 * @returns 16 hexadecimal digits
 */
export function accountMark(accountId: string): string {
  return hash('sha256', `account mark\0${accountId}`, 'hex').slice(0, 16);
}

/** Signs cookies; has the interface of a keygrip for the `cookies` package. */
export interface CookieSigner {
  sign(data: string): string;
  verify(data: string, signature: string): boolean;
  /** Returns 0 for a signature by any of the keys, -1 for all others. */
  index(data: string, signature: string): number;
}

/**
 * Creates a signer (HMAC-SHA-256) over keys that may change in place. A signature by an old key counts as one by the
 * first: otherwise the package would set the cookie again while it reads it, with the path `/`, and that cookie would
 * hide the next one of the same name.
 * @param keys the first one signs, all verify
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
