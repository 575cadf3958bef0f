import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** The token the peers take, and what they need to check it. */
export interface PeerToken {
  token: string;
  /** JSON for their `PEER_KEYS`. */
  keys: string;
}

/** Signs one access token as an authorization server elsewhere would: ES256, RFC 9068. */
export async function signPeerToken(): Promise<PeerToken> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const issuer = 'https://as.example.com';
  const audience = 'https://mcp.example.com/mcp';
  const token = await new SignJWT({ scope: 'mcp:tools', client_id: 'bench' })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject('bench')
    .setIssuedAt()
    .setExpirationTime('12h')
    .sign(privateKey);
  return { token, keys: JSON.stringify({ issuer, audience, publicKey: await exportJWK(publicKey) }) };
}
