import { compactVerify, createRemoteJWKSet, customFetch, errors } from 'jose';
import { privateKeyAlgorithms } from '../oauth/signature-algorithms.ts';
import { type Ask, kindOf } from './ask.ts';
import { UpstreamFault, type UpstreamReason } from './upstream-fault.ts';

/** Verifies signatures of an upstream. */
export interface KeySource {
  /**
   * Verifies that a JWT was signed with one of the keys at a URL.
   * @throws UpstreamFault
   */
  requireSignature(jwt: string, jwksUri: string): Promise<void>;
}

/** Lifetime of a key set, in milliseconds (T-086). */
const cacheMaxAge = 600_000;

/** Maximum number of keys to try for a JWT without a key id. */
const maxTries = 5;

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** Returns the reason of a failed verification. Other errors of jose concern the keys themselves. */
function reasonOf(error: unknown): UpstreamReason {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'jwt_signature';
  if (error instanceof errors.JWKSNoMatchingKey) return 'jwt_key';
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return 'jwt_algorithm';
  return error instanceof errors.JWSInvalid ? 'jwt_malformed' : 'keys_malformed';
}

/**
 * Creates the signature verification of one upstream. Only keys at the URL of its metadata are used, whatever
 * a header says. An unknown key id causes a new request for the key set, but not more often than once per
 * cooldown (T-086).
 * @param name of the upstream
 * @param cooldownMs minimum time between two requests because of an unknown key id
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
