import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

/** What a proof is made for; `header` and `claims` over what an honest client writes, an undefined one leaves it out. */
export interface ProofChoice {
  method?: string;
  url: string;
  accessToken?: string;
  nonce?: string;
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
}

/** A key of a client, and the proofs it signs (RFC 9449 section 4.2). */
export interface Prover {
  thumbprint: string;
  publicJwk: JWK;
  privateJwk: JWK;
  prove(choice: ProofChoice): Promise<string>;
}

/** Makes a key that tokens can be bound to. */
export async function createProver(algorithm: 'ES256' | 'Ed25519' | 'RS256' = 'ES256'): Promise<Prover> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  return {
    publicJwk,
    privateJwk: await exportJWK(privateKey),
    thumbprint: await calculateJwkThumbprint(publicJwk),
    prove({ method = 'POST', url, accessToken, nonce, header = {}, claims = {} }) {
      const payload: JWTPayload = {
        jti: randomUUID(),
        htm: method,
        htu: url,
        iat: Math.floor(Date.now() / 1000),
        ath: accessToken && createHash('sha256').update(accessToken).digest('base64url'),
        nonce,
        ...claims,
      };
      const given = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
      return new SignJWT(given)
        .setProtectedHeader({ alg: algorithm, typ: 'dpop+jwt', jwk: publicJwk, ...header })
        .sign(privateKey);
    },
  };
}

/** The headers of a request with a token and a proof. */
export function provenHeaders(accessToken: string, proof: string): Record<string, string> {
  return { authorization: `DPoP ${accessToken}`, dpop: proof };
}
