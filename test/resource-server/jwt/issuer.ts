import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';

/** What a token says, and how it is signed; an undefined claim or header is left out. */
export interface TokenChoice {
  key?: JWK;
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
}

/** An issuer with keys at a URL of its own. */
export interface TestIssuer {
  issuer: string;
  jwksUrl: string;
  key: JWK;
  /** What is published; tests change it. */
  published: { keys: JWK[] };
  /** Overrides the whole answer of the place of the keys. */
  answer?: { status?: number; body?: string };
  /** Paths that were asked for, in order. */
  requests: string[];
  sign(choice?: TokenChoice): Promise<string>;
}

export const resource = 'https://files.example.com/mcp';

/** @returns a private key and its public part for ES256 */
export async function createKey(kid: string): Promise<{ key: JWK; publicKey: JWK }> {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const named = async (part: Parameters<typeof exportJWK>[0]): Promise<JWK> => ({
    ...(await exportJWK(part)),
    kid,
    alg: 'ES256',
  });
  return { key: await named(pair.privateKey), publicKey: await named(pair.publicKey) };
}

/** Starts an issuer for one test. */
export async function startIssuer(name = 'https://as.example.com'): Promise<TestIssuer> {
  const { key, publicKey } = await createKey('k1');
  const issuer: TestIssuer = {
    issuer: name,
    jwksUrl: '',
    key,
    published: { keys: [publicKey] },
    requests: [],
    sign: ({ key: by = key, header = {}, claims = {} } = {}) => {
      const nowSeconds = Math.floor(Date.now() / 1000);
      const payload = {
        iss: name,
        sub: 'ada',
        aud: resource,
        client_id: 'client-1',
        jti: 'token-1',
        scope: 'files:read files:write',
        iat: nowSeconds,
        exp: nowSeconds + 300,
        ...claims,
      };
      return new SignJWT(JSON.parse(JSON.stringify(payload)))
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: String(by.kid), ...header })
        .sign(by);
    },
  };
  const server = createServer((request, response) => {
    issuer.requests.push(String(request.url));
    response.statusCode = issuer.answer?.status ?? 200;
    response.setHeader('content-type', 'application/json');
    response.end(issuer.answer?.body ?? JSON.stringify(issuer.published));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  issuer.jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  return issuer;
}
