import { importJWK, type JWK, jwtVerify } from 'jose';

/** What the bench tells a peer of the tokens it will send. */
interface Keys {
  issuer: string;
  audience: string;
  publicKey: JWK;
}

const keys = JSON.parse(process.env.PEER_KEYS ?? '') as Keys;
const publicKey = await importJWK(keys.publicKey, 'ES256');

/** The scope the token of the bench has. */
export const requiredScopes = ['mcp:tools'];

/** Checks a token as SDK servers do: a signed JWT, verified for each request. */
export const verifier = {
  async verifyAccessToken(token: string) {
    const { payload } = await jwtVerify(token, publicKey, {
      issuer: keys.issuer,
      audience: keys.audience,
      algorithms: ['ES256'],
      typ: 'at+jwt',
    });
    return {
      token,
      clientId: String(payload.client_id),
      scopes: String(payload.scope).split(' '),
      expiresAt: Number(payload.exp),
      resource: new URL(keys.audience),
    };
  },
};

/** Where the bench wants the peer to listen. */
export const port = Number(process.env.PORT);

process.on('SIGTERM', () => process.exit(0));
process.on('SIGUSR2', () => globalThis.gc?.());
