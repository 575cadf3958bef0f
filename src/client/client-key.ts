import { type CryptoKey, exportJWK, importJWK, importPKCS8, type JWK } from 'jose';
import { ClientError } from './client-error.ts';
import type { PrivateJwk } from './stores/credential-store.ts';

/** Signature algorithms by curve (RFC 7518 section 3.4, RFC 8037 section 3.1). */
const algorithmOfCurve: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  Ed25519: 'EdDSA',
};

/**
 * Algorithms tried in turn on a PEM, which does not name its algorithm. Every type of key fits one of them.
 */
const guesses = ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256'] as const;

/** Asymmetric signature algorithms. */
const asymmetric = /^(?:ES(?:256|384|512)|(?:RS|PS)(?:256|384|512)|EdDSA|Ed25519)$/;

/** Returns the JWK with its text members only: the form that stores hold. */
export function toPrivateJwk(jwk: JWK, alg: string, kid?: string): PrivateJwk {
  const { kty, ...rest } = jwk;
  const texts = Object.entries(rest).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { ...Object.fromEntries(texts), kty: String(kty), alg, ...(kid === undefined ? {} : { kid }) };
}

function refuse(why: string): never {
  throw new ClientError('bad_key', `The private key cannot be used: ${why}.`);
}

async function readPem(text: string, algorithms: readonly string[], keyId?: string): Promise<PrivateJwk> {
  for (const algorithm of algorithms) {
    const key = await importPKCS8(text, algorithm, { extractable: true }).catch(() => undefined);
    if (key !== undefined) return toPrivateJwk(await exportJWK(key), algorithm, keyId);
  }
  return refuse(`it is no key for ${algorithms.join(', ')}`);
}

async function readJwk(text: string, options: { algorithm?: string; keyId?: string }): Promise<PrivateJwk> {
  let jwk: JWK;
  try {
    jwk = Object(JSON.parse(text)) as JWK;
  } catch {
    return refuse('it is no JSON Web Key');
  }
  if (typeof jwk.kty !== 'string' || typeof jwk.d !== 'string')
    return refuse('the JSON is no private JSON Web Key, which has "kty" and "d"');
  const algorithm = options.algorithm ?? jwk.alg ?? algorithmOfCurve[jwk.crv ?? ''] ?? 'RS256';
  if (!asymmetric.test(algorithm)) return refuse(`${algorithm} is not supported`);
  const key = toPrivateJwk(jwk, algorithm, options.keyId ?? jwk.kid);
  await signingKey(key).catch(() => refuse(`it is no key for ${algorithm}`));
  return key;
}

/**
 * Reads a private key of a client.
 * @param text PEM (PKCS #8), or a JSON Web Key
 * @param options `algorithm` (RFC 7518), if the key does not name one; `keyId`: the `kid` at the
 *   authorization server
 * @returns the key in the form that registrations hold
 * @throws ClientError `bad_key`; the message contains nothing of the key
 * @see RFC 7517 section 4; RFC 5958 section 2
 */
export async function readPrivateKey(
  text: string,
  options: { algorithm?: string; keyId?: string } = {},
): Promise<PrivateJwk> {
  const { algorithm, keyId } = options;
  const trimmed = text.trim();
  if (algorithm !== undefined && !asymmetric.test(algorithm)) return refuse('its algorithm is not supported');
  if (trimmed.startsWith('{')) return readJwk(trimmed, options);
  if (trimmed.startsWith('-----BEGIN ENCRYPTED'))
    return refuse('it is encrypted. Decrypt it: openssl pkcs8 -in key.pem -out plain.pem');
  if (/^-----BEGIN (?:EC|RSA) /.test(trimmed))
    return refuse(
      'it is not in PKCS #8. Convert it: openssl pkcs8 -topk8 -nocrypt -in key.pem -out pkcs8.pem',
    );
  if (!trimmed.startsWith('-----BEGIN PRIVATE KEY-----'))
    return refuse('it is neither PEM (PKCS #8) nor a JSON Web Key');
  return readPem(trimmed, algorithm === undefined ? guesses : [algorithm], keyId);
}

/**
 * Imports a key for signing.
 * @param key a key of a registration or credential
 * @throws ClientError `bad_key`
 */
export async function signingKey(key: PrivateJwk): Promise<CryptoKey> {
  const imported = await importJWK(key as JWK, key.alg).catch(() => refuse('it is damaged'));
  return imported instanceof Uint8Array ? refuse('it is a shared secret') : imported;
}
