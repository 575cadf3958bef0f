import { compactVerify, createRemoteJWKSet, customFetch, errors } from 'jose';
import { privateKeyAlgorithms } from '../oauth/signature-algorithms.ts';
import { type Ask, kindOf } from './ask.ts';
import { UpstreamFault, type UpstreamReason } from './upstream-fault.ts';

/** What verifies signatures of an upstream. */
export interface KeySource {
  /**
   * Verifies that a JWT was signed with one of the keys at a URL.
   * @throws UpstreamFault
   */
  requireSignature(jwt: string, jwksUri: string): Promise<void>;
}

/** How long a key set counts, and how soon it is asked for again for a key that is not in it (T-086). */
const cacheMaxAge = 600_000;

/** Most keys that are tried for a JWT that names none. */
const maxTries = 5;

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** What a failed verification comes to. Whatever else jose or the engine says is about the keys themselves. */
function reasonOf(error: unknown): UpstreamReason {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'jwt_signature';
  if (error instanceof errors.JWKSNoMatchingKey) return 'jwt_key';
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return 'jwt_algorithm';
  return error instanceof errors.JWSInvalid ? 'jwt_malformed' : 'keys_malformed';
}

/**
 * Creates what verifies signatures of one upstream. Only keys at the URL of its metadata count, whatever a header says;
 * a key that is not among them has the set fetched again, but not more often than once in a while (T-086).
 * @param name of the upstream
 * @param cooldownMs how long the set is not fetched again for a key that is not in it
 */
export function createKeySource(name: string, ask: Ask, cooldownMs: number): KeySource {
  let known: { jwksUri: string; keys: RemoteKeys } | undefined;
  const keysAt = (jwksUri: string): RemoteKeys => {
    if (known?.jwksUri === jwksUri) return known.keys;
    const keys = createRemoteJWKSet(new URL(jwksUri), {
      [customFetch]: (url) => ask('key set', url),
      cacheMaxAge,
      cooldownDuration: cooldownMs,
    });
    known = { jwksUri, keys };
    return keys;
  };

  async function verify(jwt: string, keys: RemoteKeys): Promise<void> {
    const algorithms = [...privateKeyAlgorithms];
    try {
      await compactVerify(jwt, keys, { algorithms });
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      let tries = 0;
      for await (const key of error) {
        tries += 1;
        const isSigned = await compactVerify(jwt, key, { algorithms }).then(
          () => true,
          () => false,
        );
        if (isSigned) return;
        if (tries === maxTries) break;
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  return {
    async requireSignature(jwt, jwksUri) {
      try {
        await verify(jwt, keysAt(jwksUri));
      } catch (error) {
        if (error instanceof UpstreamFault) throw error;
        const reason = reasonOf(error);
        throw new UpstreamFault(name, kindOf(reason), reason);
      }
    },
  };
}
