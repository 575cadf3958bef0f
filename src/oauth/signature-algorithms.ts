/**
 * Signature algorithms with a private key; never a shared secret, never `none`.
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
 * Accepted signature algorithms of DPoP proofs, at the authorization server and at the MCP endpoint: asymmetric, each
 * with keys of one fixed size.
 * @see RFC 9449 sections 4.3 and 11.6
 */
export const proofAlgorithms = ['ES256', 'Ed25519', 'EdDSA'] as const;
