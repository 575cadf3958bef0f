import { privateKeyAlgorithms } from '../../oauth/signature-algorithms.ts';

/**
 * Lets an ID token that comes with an access token be signed with any safe algorithm. Without a word about it RS256 alone
 * would do, but a client that is registered without OpenID Connect has what its server signs with otherwise. The ID token
 * comes over TLS from the token endpoint, its issuer and audience are checked, and nothing here is done with it.
 * @param as the authorization server
 * @returns the same, for oauth4webapi
 * @see OpenID Connect Core 1.0 section 3.1.3.7
 */
export function withIdTokenAlgorithms<Metadata extends { issuer: string }>(
  as: Metadata,
): Metadata & { id_token_signing_alg_values_supported: string[] } {
  return { ...as, id_token_signing_alg_values_supported: [...privateKeyAlgorithms] };
}
