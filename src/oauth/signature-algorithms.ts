/**
 * Algorithms of signatures that only the holder of a private key can make; a shared secret, or none, is no such key.
 * @see RFC 8725 section 3.1; RFC 7518 section 3.1, RFC 8037, RFC 9864
 */
export const privateKeyAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
] as const;

/**
 * Signature algorithms that DPoP proofs may have, at the authorization server and at the MCP endpoint: asymmetric, and
 * each with keys of one fixed size.
 * @see RFC 9449 sections 4.3 and 11.6
 */
export const proofAlgorithms = ['ES256', 'Ed25519', 'EdDSA'] as const;
