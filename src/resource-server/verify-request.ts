import type { AuthInfo } from '../oauth/auth-info.ts';
import { type MalformedReason, parseBearer, type TokenScheme } from '../oauth/bearer.ts';
import { missingScopes } from '../oauth/scope.ts';
import {
  type BearerRefusal,
  type ChallengeContext,
  describeRefusal,
  type RefusalReason,
} from './challenge.ts';
import type { ProofFault } from './dpop/proof-checks.ts';
import { type DpopPolicy, type ProvenRequest, verifyProof } from './dpop/verify-proof.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** What of a request can hold a token. */
export interface CredentialsOfRequest {
  /** Every `Authorization` header field, in order. */
  authorization: readonly string[];
  /** The query string, without `?`. */
  query: string;
  /** What a proof would be about and where it would stand; asked for only where a token comes with one. */
  proven: () => ProvenRequest;
}

/** What a resource asks of its callers. */
export interface ResourcePolicy extends ChallengeContext {
  verifier: TokenVerifier;
  /** The resource's own identifier; tokens for any other are refused (T-096). */
  resource: string;
  /** Identifiers under which the same server is reached by other transports: tokens for these are good as well (FA-20). */
  sameServer?: readonly string[];
  /**
   * Whether the server of a token was chosen by the person, because its client cannot name one. For such a client 401 is
   * no way out: it refreshes, gets a token for the same server, and is refused again (FA-20). Never by default.
   */
  isServerChosen?: (caller: AuthInfo) => Promise<boolean>;
  /** How tokens that are bound to a key are taken; not at all where this is undefined. */
  dpop?: DpopPolicy;
}

/** Who is calling, or why the request is refused. */
export type RequestVerdict = ({ authInfo: AuthInfo } | { refusal: BearerRefusal }) & {
  /** A nonce for the next proof (RFC 9449 section 9). */
  nextNonce?: string;
};

/**
 * Decides whether a request may pass. The token is read from the `Authorization`
 * header only; one in the query alone counts as none, one in both places is refused. A token that is bound to a key
 * passes with a proof of that key alone; for a bearer token nothing more is looked at.
 * @throws what the verifier throws when it cannot tell (a database that is down is not a bad token)
 * @see RFC 6750 sections 2 and 3; RFC 9449 section 7; MCP authorization "Access Token Usage" (A8-02, A7-03, A13-09)
 */
export async function verifyRequest(
  request: CredentialsOfRequest,
  policy: ResourcePolicy,
): Promise<RequestVerdict> {
  const credentials = parseBearer(request.authorization);
  if (credentials.kind === 'none') return refuse(policy, 'no_credentials');
  const { scheme } = credentials;
  if (scheme === 'DPoP' && !policy.dpop) return refuse(policy, 'no_credentials');
  if (credentials.kind === 'malformed') return refuse(policy, malformedReasons[credentials.reason], scheme);
  if (request.query !== '' && new URLSearchParams(request.query).has('access_token'))
    return refuse(policy, 'token_also_in_query', scheme);

  const { token } = credentials;
  const authInfo = await policy.verifier.verify(token);
  if (!authInfo) return refuse(policy, 'unusable_token', scheme);
  if (!isFor(authInfo.audience, policy)) {
    const isChosen = await policy.isServerChosen?.(authInfo);
    return refuse(policy, isChosen ? 'other_server_chosen' : 'wrong_audience', scheme);
  }
  const bindingFault = checkBinding(scheme, authInfo, policy);
  if (bindingFault) return refuse(policy, bindingFault, scheme);
  const { keyThumbprint } = authInfo;
  if (!policy.dpop || keyThumbprint === undefined) return checkScopes(scheme, authInfo, policy);
  const key = { accessToken: token, keyThumbprint };
  const { fault, ...nonce } = await verifyProof(request.proven(), key, policy.dpop);
  const verdict = fault
    ? refuse(policy, proofReasons[fault] ?? 'unusable_proof', scheme)
    : checkScopes(scheme, authInfo, policy);
  return { ...verdict, ...nonce };
}

function isFor(audience: string, { resource, sameServer }: ResourcePolicy): boolean {
  return audience === resource || (sameServer?.includes(audience) ?? false);
}

function checkScopes(scheme: TokenScheme, authInfo: AuthInfo, policy: ResourcePolicy): RequestVerdict {
  const { requiredScopes } = policy;
  if (requiredScopes.length > 0 && missingScopes(authInfo.scopes, requiredScopes).length > 0)
    return refuse(policy, 'insufficient_scope', scheme);
  return { authInfo };
}

function refuse(policy: ResourcePolicy, reason: RefusalReason, scheme?: TokenScheme): RequestVerdict {
  return { refusal: describeRefusal(reason, policy, scheme) };
}

/** A token and how it is presented have to belong together (RFC 9449 sections 7.1 and 7.2). */
function checkBinding(
  scheme: TokenScheme,
  { keyThumbprint }: AuthInfo,
  { dpop }: ResourcePolicy,
): RefusalReason | undefined {
  if (scheme === 'Bearer' && keyThumbprint !== undefined) return 'bound_token_as_bearer';
  if (keyThumbprint === undefined && dpop?.required) return 'unbound_token';
  if (scheme === 'DPoP' && keyThumbprint === undefined) return 'unbound_token_with_proof';
  return undefined;
}

/** The faults of a proof that a nonce mends; every other is one answer, as it says nothing more to an honest client. */
const proofReasons: { readonly [fault in ProofFault]?: RefusalReason } = {
  not_recent: 'nonce_needed',
  no_nonce: 'nonce_needed',
  stale_nonce: 'nonce_needed',
};

/**
 * A request that is put wrongly is a bad request; a token that is put wrongly is a bad token (RFC 6750 section 3.1);
 * `Bearer` and nothing behind it is no token at all (T-095).
 */
const malformedReasons = {
  two_headers: 'two_authorization_headers',
  empty: 'no_credentials',
  illegal_character: 'malformed_token',
  too_long: 'malformed_token',
} as const satisfies Record<MalformedReason, RefusalReason>;
