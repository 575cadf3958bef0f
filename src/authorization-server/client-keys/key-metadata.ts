import { privateKeyAlgorithms } from '../../oauth/signature-algorithms.ts';
import { checkKeySet, checkKeySetUrl } from './key-set.ts';

/** Members by which a client says how its assertions are verified (RFC 7591 section 2). */
const keyMembers = ['jwks', 'jwks_uri', 'token_endpoint_auth_signing_alg'] as const;

type Metadata = Record<string, unknown>;

/** @returns whether a client brings keys of its own, or says where they are */
export function bringsKeys({ jwks, jwks_uri }: Metadata): boolean {
  return jwks !== undefined || jwks_uri !== undefined;
}

/**
 * Looks at what a client needs for `private_key_jwt`: keys, or the URL where they are, and not both.
 * @returns what is wrong, as a sentence without an end; undefined where its assertions can be verified
 */
export function checkKeyMetadata(metadata: Metadata): string | undefined {
  const { jwks, jwks_uri, token_endpoint_auth_signing_alg: algorithm } = metadata;
  if ((jwks === undefined) === (jwks_uri === undefined))
    return 'private_key_jwt needs either jwks or jwks_uri, and not both';
  const inKeys = jwks === undefined ? undefined : checkKeySet(jwks);
  if (inKeys) return `jwks ${inKeys}`;
  const inUrl = jwks_uri === undefined ? undefined : checkKeySetUrl(jwks_uri);
  if (inUrl) return `jwks_uri ${inUrl}`;
  if (algorithm !== undefined && !privateKeyAlgorithms.some((known) => known === algorithm))
    return `token_endpoint_auth_signing_alg must be one of ${privateKeyAlgorithms.join(', ')}`;
  return undefined;
}

/** Gives the members about keys, as they are. */
export function pickKeyMetadata(metadata: Metadata): Metadata {
  return Object.fromEntries(
    keyMembers.flatMap((member) => (member in metadata ? [[member, metadata[member]]] : [])),
  );
}
