import type { AuthInfo } from '../oauth/auth-info.ts';
import { parseBearer } from '../oauth/bearer.ts';
import { missingScopes } from '../oauth/scope.ts';
import {
  type BearerRefusal,
  type ChallengeContext,
  describeRefusal,
  type RefusalReason,
} from './challenge.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** What of a request can hold a token. */
export interface CredentialsOfRequest {
  /** Every `Authorization` header field, in order. */
  authorization: readonly string[];
  /** The query string, without `?`. */
  query: string;
}

/** What a resource asks of its callers. */
export interface ResourcePolicy extends ChallengeContext {
  verifier: TokenVerifier;
  /** The resource's own identifier; tokens for any other are refused (T-096). */
  resource: string;
}

/** Who is calling, or why the request is refused. */
export type RequestVerdict = { authInfo: AuthInfo } | { refusal: BearerRefusal };

/**
 * Decides whether a request may pass. The token is read from the `Authorization` header only; one in the query
 * alone counts as none, one in both places is refused.
 * @throws what the verifier throws when it cannot tell (a database that is down is not a bad token)
 * @see RFC 6750 sections 2 and 3; MCP authorization "Access Token Usage" (A8-02, A7-03)
 */
export async function verifyRequest(
  request: CredentialsOfRequest,
  policy: ResourcePolicy,
): Promise<RequestVerdict> {
  const refuse = (reason: RefusalReason): RequestVerdict => ({ refusal: describeRefusal(reason, policy) });

  const credentials = parseBearer(request.authorization);
  if (credentials.kind === 'none') return refuse('no_credentials');
  if (credentials.kind === 'malformed') return refuse(malformedReasons[credentials.reason]);
  if (request.query !== '' && new URLSearchParams(request.query).has('access_token'))
    return refuse('token_also_in_query');

  const authInfo = await policy.verifier.verify(credentials.token);
  if (!authInfo) return refuse('unusable_token');
  if (authInfo.audience !== policy.resource) return refuse('wrong_audience');
  const { requiredScopes } = policy;
  if (requiredScopes.length > 0 && missingScopes(authInfo.scopes, requiredScopes).length > 0)
    return refuse('insufficient_scope');
  return { authInfo };
}

/**
 * A request that is put wrongly is a bad request; a token that is put wrongly is a bad token (RFC 6750 section 3.1);
 * `Bearer` and nothing behind it is no token at all (T-095).
 */
const malformedReasons = {
  two_headers: 'two_authorization_headers',
  empty: 'no_credentials',
  illegal_character: 'malformed_token',
  too_long: 'malformed_token',
} as const satisfies Record<string, RefusalReason>;
