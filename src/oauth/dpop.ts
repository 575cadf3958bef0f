/**
 * Signature algorithms that DPoP proofs may have, at the authorization server and at the MCP endpoint: asymmetric, and
 * each with keys of one fixed size.
 * @see RFC 9449 sections 4.3 and 11.6
 */
export const proofAlgorithms = ['ES256', 'Ed25519', 'EdDSA'] as const;
