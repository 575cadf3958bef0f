import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

/** A client's key pair, and what it signs. */
export interface ClientKey {
  privateKey: CryptoKey;
  /** Its public half as it is registered. */
  jwk: JWK;
  /** An assertion that is as it should be, but for what is given; an undefined claim leaves it out. */
  sign(
    clientId: string,
    audience: string,
    claims?: JWTPayload,
    header?: Record<string, unknown>,
  ): Promise<string>;
}

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Makes a key pair. @param kid what it is called; nothing by default */
export async function createClientKey(alg = 'ES256', kid?: string): Promise<ClientKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const named = kid === undefined ? {} : { kid };
  return {
    privateKey,
    jwk: { ...(await exportJWK(publicKey)), ...named },
    sign(clientId, audience, claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const whole = {
        iss: clientId,
        sub: clientId,
        aud: audience,
        iat: now,
        exp: now + 60,
        jti: randomUUID(),
      };
      return new SignJWT({ ...whole, ...claims })
        .setProtectedHeader({ alg, ...named, ...header })
        .sign(privateKey);
    },
  };
}

/** The form fields of an assertion. */
export function asserting(assertion: string): Record<string, string> {
  return { client_assertion_type: assertionType, client_assertion: assertion };
}
