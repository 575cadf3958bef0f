/** Members of a key that only its owner may have (RFC 7517, RFC 7518 section 6). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** Keys of one client: the one in use, its successor, and room for those of several machines (T-057). */
const maxKeys = 20;

/** The keys of a client (RFC 7517 section 5). */
export interface ClientKeySet {
  keys: Record<string, unknown>[];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
