import { randomUUID } from 'node:crypto';
import { importJWK, type JWK, SignJWT } from 'jose';
import { basicAuthorization } from '../../oauth/headers.ts';

/** Identity and credential of a resource server at the authorization server. */
export type IntrospectionClient = { clientId: string } & (
  | {
      /** Sent by `client_secret_basic`. */
      clientSecret: string;
      privateKey?: never;
    }
  | {
      /** Signs an assertion for each request (`private_key_jwt`); `alg` says how, `kid` which key it is. */
      privateKey: JWK & { alg: string };
      clientSecret?: never;
    }
);

/** Client authentication sent with the token. */
export interface ClientProof {
  headers: Record<string, string>;
  fields: Record<string, string>;
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Lifetime of an assertion, in seconds. */
const assertionSeconds = 60;

/**
 * Creates a function that returns fresh client authentication for each request.
 * @param issuer the authorization server, the only audience of an assertion
 * @param now epoch seconds
 * @see RFC 6749 section 2.3.1; RFC 7523 sections 2.2 and 3
 */
export function createClientProof(
  client: IntrospectionClient,
  issuer: string,
  now: () => number,
): () => Promise<ClientProof> {
  const { clientId, clientSecret, privateKey } = client;
  if (clientSecret !== undefined) {
    const headers = { authorization: basicAuthorization(clientId, clientSecret) };
    return async () => ({ headers, fields: {} });
  }
  const { alg, kid } = privateKey;
  return async () => {
    const assertion = await new SignJWT()
      .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(issuer)
      .setJti(randomUUID())
      .setIssuedAt(now())
      .setExpirationTime(now() + assertionSeconds)
      .sign(await importJWK(privateKey, alg));
    return { headers: {}, fields: { client_assertion_type: assertionType, client_assertion: assertion } };
  };
}
