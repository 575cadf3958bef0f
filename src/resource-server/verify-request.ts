import type { AuthInfo } from '../oauth/auth-info.ts';
import { type MalformedReason, parseBearer, type TokenScheme } from '../oauth/challenge.ts';
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

/** The parts of a request that may carry a token. */
export interface CredentialsOfRequest {
  /** Every `Authorization` header field, in order. */
  authorization: readonly string[];
  /** The query string, without `?`. */
  query: string;
  /** Returns the request data that a DPoP proof covers; called only if a proof is needed. */
  proven: () => ProvenRequest;
}

/** Requirements of a resource for its callers. */
export interface ResourcePolicy extends ChallengeContext {
  verifier: TokenVerifier;
  /** Identifier of the resource; tokens for another one are rejected (T-096). */
  resource: string;
  /** Identifiers of the same server over other transports, whose tokens are accepted as well (FA-20). */
  sameServer?: readonly string[];
  /**
   * Returns true if the user chose the server of the token, because the client cannot name one. A 401 does not help
   * such a client: it would refresh, get a token for the same server, and be rejected again (FA-20). Always false by
   * default.
   */
  isServerChosen?: (caller: AuthInfo) => Promise<boolean>;
  /** Policy for DPoP-bound tokens; undefined rejects them. */
  dpop?: DpopPolicy;
}

/** The caller, or the refusal of the request. */
export type RequestVerdict = ({ authInfo: AuthInfo } | { refusal: BearerRefusal }) & {
  /** Nonce for the client's next proof (RFC 9449 section 9). */
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
  if (!policy.dpop || keyThumbprint === undefined) return checkRequiredScopes(scheme, authInfo, policy);
  const key = { accessToken: token, keyThumbprint };
  const { fault, ...nonce } = await verifyProof(request.proven(), key, policy.dpop);
  const verdict = fault
    ? refuse(policy, proofReasons[fault] ?? 'unusable_proof', scheme)
    : checkRequiredScopes(scheme, authInfo, policy);
  return { ...verdict, ...nonce };
}

function isFor(audience: string, { resource, sameServer }: ResourcePolicy): boolean {
  return audience === resource || (sameServer?.includes(audience) ?? false);
}

/** Checks the scopes that every request needs. `mcp/scopes/scope-gate.ts` checks those of a tool. */
function checkRequiredScopes(
  scheme: TokenScheme,
  authInfo: AuthInfo,
  policy: ResourcePolicy,
): RequestVerdict {
  const { requiredScopes } = policy;
  if (requiredScopes.length > 0 && missingScopes(authInfo.scopes, requiredScopes).length > 0)
    return refuse(policy, 'insufficient_scope', scheme);
  return { authInfo };
}

function refuse(policy: ResourcePolicy, reason: RefusalReason, scheme?: TokenScheme): RequestVerdict {
  return { refusal: describeRefusal(reason, policy, scheme) };
}

/** The authentication scheme has to match the token's binding (RFC 9449 sections 7.1 and 7.2). */
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

/** Proof faults that a new nonce resolves; all others share one refusal, as an honest client needs no more. */
const proofReasons: { readonly [fault in ProofFault]?: RefusalReason } = {
  not_recent: 'nonce_needed',
  no_nonce: 'nonce_needed',
  stale_nonce: 'nonce_needed',
};

/**
 * A malformed request is `invalid_request`, a malformed token `invalid_token` (RFC 6750 section 3.1); `Bearer` without
 * a token is no token at all (T-095).
 */
const malformedReasons = {
  two_headers: 'two_authorization_headers',
  empty: 'no_credentials',
  illegal_character: 'malformed_token',
  too_long: 'malformed_token',
} as const satisfies Record<MalformedReason, RefusalReason>;
