import { compactVerify, createLocalJWKSet } from 'jose';
import { privateKeyAlgorithms } from '../../oauth/signature-algorithms.ts';
import { type ClientKeys, ClientKeysRefused } from '../client-keys/client-keys.ts';
import type { Assertion } from './assertion.ts';
import { assertionRefused, IssuerKeysMissing } from './granted-scopes.ts';
import type { TrustedIssuer } from './trusted-issuer.ts';

/** Most keys that are tried for one assertion: a set without names costs no more than this. */
const maxTries = 5;

/**
 * Verifies that an issuer signed an assertion: with a key of its own list, whatever the header says, and by the
 * algorithm that both name (RFC 8725 sections 3.1 and 3.2).
 * @param keys key sets at URLs, fetched under guard
 * @throws errors.InvalidGrant if it did not; IssuerKeysMissing if its keys are unavailable now
 */
export async function requireSignature(
  keys: ClientKeys,
  { issuer, jwks, jwksUri }: TrustedIssuer,
  jwt: string,
  { header }: Assertion,
): Promise<void> {
  const set =
    jwks ??
    (await keys.find(String(jwksUri), { keyId: header.kid, address: undefined }).catch((refusal) => {
      if (refusal instanceof ClientKeysRefused) throw new IssuerKeysMissing(issuer, refusal);
      throw refusal;
    }));
  const fitting = set.keys.filter(({ kid }) => header.kid === undefined || kid === header.kid);
  for (const key of fitting.slice(0, maxTries)) {
    const find = createLocalJWKSet({ keys: [key as { kty: string }] });
    const isSigned = await compactVerify(jwt, find, { algorithms: [...privateKeyAlgorithms] }).then(
      () => true,
      () => false,
    );
    if (isSigned) return;
  }
  throw assertionRefused('is not signed with a key of its issuer');
}
