/** What assertions of clients may be signed with: a key that only the client has (RFC 8725 section 3.1). */
export const assertionAlgorithms = [
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
