export { type AccessWatch, createAccessWatch } from './access-watch.ts';
export { buildProtectedResource, type ProtectedResourceDescription } from './challenge.ts';
export { createDpopNonces, createUsedProofs, type UsedProofs } from './dpop/proof-checks.ts';
export type { DpopPolicy } from './dpop/verify-proof.ts';
export {
  createIntrospectionVerifier,
  type IntrospectionClient,
  IntrospectionUnavailable,
  type IntrospectionVerifierOptions,
} from './introspection/introspection-verifier.ts';
export { IssuerKeysUnavailable } from './jwt/issuer-keys.ts';
export { createJwtVerifier, type JwtVerifierOptions, type TrustedIssuer } from './jwt/jwt-verifier.ts';
export { createRequireBearer, type RequireBearerOptions } from './require-bearer.ts';
export {
  type AccessTokenRecord,
  type AccessTokenSource,
  createLocalVerifier,
  type TokenVerifier,
} from './token-verifier.ts';
export { verifyRequest } from './verify-request.ts';
