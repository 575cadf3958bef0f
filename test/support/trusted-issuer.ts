import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

/** An issuer that an operator may trust: an identity provider, or the platform of a workload. */
export interface TestIssuer {
  issuer: string;
  /** Its public keys. */
  jwks: { keys: Record<string, unknown>[] };
  /** An assertion of somebody for a client, good but for what is given; an undefined claim leaves it out. */
  assertPerson(
    about: { audience: string; clientId: string; resource: string },
    claims?: JWTPayload,
    header?: Record<string, unknown>,
  ): Promise<string>;
  /** An identity of a workload, good but for what is given. */
  assertWorkload(audience: string, claims?: JWTPayload, header?: Record<string, unknown>): Promise<string>;
}

/** Makes one. @param issuer what it is called @param alg how it signs */
export async function createTestIssuer(issuer: string, alg = 'RS256'): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'k1', alg };
  const sign = (claims: JWTPayload, header: Record<string, unknown>): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ iss: issuer, iat: now, exp: now + 300, ...claims })
      .setProtectedHeader({ alg, kid: 'k1', ...header })
      .sign(privateKey);
  };
  return {
    issuer,
    jwks: { keys: [jwk as Record<string, unknown>] },
    assertPerson: ({ audience, clientId, resource }, claims = {}, header = {}) =>
      sign(
        { sub: 'ada-at-idp', aud: audience, client_id: clientId, resource, jti: randomUUID(), ...claims },
        { typ: 'oauth-id-jag+jwt', ...header },
      ),
    assertWorkload: (audience, claims = {}, header = {}) =>
      sign(
        { sub: 'repo:example/app:ref:refs/heads/main', aud: audience, ...claims },
        { typ: 'JWT', ...header },
      ),
  };
}
