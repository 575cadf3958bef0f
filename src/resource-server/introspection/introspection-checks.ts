import { checkJwtClaims, type JwtExpectation, type JwtFault, type JwtPart } from '../jwt/jwt-checks.ts';

/** Why what is active is not an access token for us. */
export type IntrospectionFault = JwtFault | 'other_issuer' | 'no_access_token' | 'binding_without_key';

/** What an active token has to be. */
export interface IntrospectionExpectation extends JwtExpectation {
  issuer: string;
}

type IntrospectionCheck = (
  answer: JwtPart,
  expected: IntrospectionExpectation,
) => IntrospectionFault | undefined;

const checks: readonly IntrospectionCheck[] = [
  ({ iss }, { issuer }) => (iss === undefined || iss === issuer ? undefined : 'other_issuer'),
  // Some servers tell of refresh tokens as well, and by this which is which.
  ({ token_use }) =>
    token_use === undefined || token_use === 'access_token' ? undefined : 'no_access_token',
  ({ token_type }) =>
    typeof token_type === 'string' && /^(bearer|dpop)$/i.test(token_type) ? undefined : 'no_access_token',
  ({ token_type, cnf }) =>
    /^dpop$/i.test(String(token_type)) && cnf === undefined ? 'binding_without_key' : undefined,
];

/**
 * Checks what an issuer says of a token it calls active, in this order: issuer, kind of token, then as the claims of a
 * JWT; only `iat` and `jti`, which RFC 7662 leaves to the server, may be missing. An answer without `iss` is of the issuer
 * that was asked.
 * @returns the first fault
 * @see RFC 7662 sections 2.2 and 4; RFC 9449 section 6.2 (A12-11, T-096, T-100)
 */
export function checkIntrospection(
  answer: JwtPart,
  expected: IntrospectionExpectation,
): IntrospectionFault | undefined {
  for (const check of checks) {
    const fault = check(answer, expected);
    if (fault) return fault;
  }
  return checkJwtClaims({ iat: expected.nowSeconds, jti: 'none', ...answer }, expected);
}
