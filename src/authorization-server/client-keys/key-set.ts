import { isObject } from '../../oauth/foreign-json.ts';
import { privateKeyAlgorithms } from '../../oauth/signature-algorithms.ts';

/** Members of a key that only its owner may have (RFC 7517, RFC 7518 section 6). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** Keys of one client: the one in use, its successor, and room for those of several machines (T-057). */
const maxKeys = 20;

/** The keys of a client (RFC 7517 section 5). */
export interface ClientKeySet {
  keys: Record<string, unknown>[];
}

/** @returns whether a key holds what only its owner may have */
export function holdsPrivateKey(key: unknown): boolean {
  return isObject(key) && (key.kty === 'oct' || privateMembers.some((member) => member in key));
}

/**
 * Looks at the public keys of a client: a short list, and nothing in it that only the client may have. A secret or
 * private key in public is no key any more (T-057, T-074).
 * @param value a JSON Web Key Set, as far as one knows
 * @returns what is wrong with it, as the end of a sentence that begins with "it"; undefined for a good one
 */
export function checkKeySet(value: unknown): string | undefined {
  if (!isObject(value) || !Array.isArray(value.keys)) return 'is no JSON Web Key Set';
  if (value.keys.length === 0) return 'holds no key';
  if (value.keys.length > maxKeys) return `holds more than ${maxKeys} keys`;
  for (const key of value.keys) {
    if (!isObject(key) || typeof key.kty !== 'string') return 'holds something that is no JSON Web Key';
    if (holdsPrivateKey(key)) return 'holds a private key';
  }
  return undefined;
}

/** @returns what is wrong with the URL of a key set, as the end of a sentence; undefined for a good one */
export function checkKeySetUrl(value: unknown): string | undefined {
  const url = typeof value === 'string' && value.length <= 2048 ? URL.parse(value) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '')
    return 'must be an https URL without a user name or fragment';
  return undefined;
}

/** Members by which a client says how its assertions are verified (RFC 7591 section 2). */
const keyMembers = ['jwks', 'jwks_uri', 'token_endpoint_auth_signing_alg'] as const;

type Metadata = Record<string, unknown>;

/** @returns whether a client brings keys of its own, or says if they are */
export function bringsKeys({ jwks, jwks_uri }: Metadata): boolean {
  return jwks !== undefined || jwks_uri !== undefined;
}

/**
 * Looks at what a client needs for `private_key_jwt`: keys, or the URL of its keys, and not both.
 * @returns what is wrong, as a sentence without an end; undefined if its assertions can be verified
 */
export function checkKeyMetadata(metadata: Metadata): string | undefined {
  const { jwks, jwks_uri, token_endpoint_auth_signing_alg: algorithm } = metadata;
  if ((jwks === undefined) === (jwks_uri === undefined))
    return 'private_key_jwt needs either jwks or jwks_uri, and not both';
  const inKeys = jwks === undefined ? undefined : checkKeySet(jwks);
  if (inKeys) return `jwks ${inKeys}`;
  const inUrl = jwks_uri === undefined ? undefined : checkKeySetUrl(jwks_uri);
  if (inUrl) return `jwks_uri ${inUrl}`;
  if (algorithm !== undefined && !privateKeyAlgorithms.some((known) => known === algorithm))
    return `token_endpoint_auth_signing_alg must be one of ${privateKeyAlgorithms.join(', ')}`;
  return undefined;
}

/** Returns the members about keys, as they are. */
export function pickKeyMetadata(metadata: Metadata): Metadata {
  return Object.fromEntries(
    keyMembers.flatMap((member) => (member in metadata ? [[member, metadata[member]]] : [])),
  );
}
