import { type BearerChallenge, formatBearerChallenge } from '../oauth/challenge.ts';
import { formatScope } from '../oauth/scope.ts';

/** Why a request is not let through. */
export type RefusalReason =
  | 'no_credentials'
  | 'two_authorization_headers'
  | 'token_also_in_query'
  | 'malformed_token'
  | 'unusable_token'
  | 'wrong_audience'
  | 'insufficient_scope';

/** A refusal as it goes out. */
export interface BearerRefusal {
  reason: RefusalReason;
  status: 400 | 401 | 403;
  /** Value of `WWW-Authenticate`. */
  challenge: string;
  body: { error: string; error_description: string };
}

/** What a challenge tells the client about the resource. */
export interface ChallengeContext {
  /** Where the protected resource metadata stands (RFC 9728 section 5.1). */
  resourceMetadataUrl: string;
  /** Scopes to ask for when the client has no token yet (A8-03). */
  baselineScopes: readonly string[];
  /** All scopes this request needs (A8-04). */
  requiredScopes: readonly string[];
}

type Row = { status: BearerRefusal['status']; error: BearerChallenge['error']; description: string };

const rows: Record<RefusalReason, Row> = {
  no_credentials: {
    status: 401,
    error: undefined,
    description: 'Send an access token: "Authorization: Bearer <token>".',
  },
  two_authorization_headers: {
    status: 400,
    error: 'invalid_request',
    description: 'Send one Authorization header, not several.',
  },
  token_also_in_query: {
    status: 400,
    error: 'invalid_request',
    description: 'Send the access token in the Authorization header only, never in the URL.',
  },
  malformed_token: {
    status: 401,
    error: 'invalid_token',
    description: 'The access token is malformed. Get a new one.',
  },
  unusable_token: {
    status: 401,
    error: 'invalid_token',
    description: 'The access token is unknown, expired or revoked. Get a new one.',
  },
  wrong_audience: {
    status: 401,
    error: 'invalid_token',
    description: 'The access token was issued for another resource. Get one for this resource.',
  },
  insufficient_scope: {
    status: 403,
    error: 'insufficient_scope',
    description: 'The access token lacks a scope. Ask for all scopes named in the challenge.',
  },
};

/** Refusals by context: a flood of bad tokens is told the same words each time. */
const described = new WeakMap<ChallengeContext, Map<RefusalReason, BearerRefusal>>();

/**
 * Says how a refusal goes out: status, challenge and JSON body. A request without credentials gets a challenge
 * without `error` (A8-09); a challenge with 401 names the baseline scopes, one with 403 all that the request needs.
 * @param context told once: it may not change afterwards
 * @see RFC 6750 sections 3 and 3.1; RFC 9728 section 5.1
 */
export function describeRefusal(reason: RefusalReason, context: ChallengeContext): BearerRefusal {
  let known = described.get(context);
  if (known === undefined) {
    known = new Map();
    described.set(context, known);
  }
  let refusal = known.get(reason);
  if (refusal === undefined) {
    refusal = buildRefusal(reason, context);
    known.set(reason, refusal);
  }
  return refusal;
}

function buildRefusal(reason: RefusalReason, context: ChallengeContext): BearerRefusal {
  const { status, error, description } = rows[reason];
  const scopes = reason === 'insufficient_scope' ? context.requiredScopes : context.baselineScopes;
  const challenge = formatBearerChallenge({
    ...(error === undefined ? {} : { error, error_description: description }),
    ...(status === 400 || scopes.length === 0 ? {} : { scope: formatScope(scopes) }),
    resource_metadata: context.resourceMetadataUrl,
  });
  return {
    reason,
    status,
    challenge,
    body: { error: error ?? 'unauthorized', error_description: description },
  };
}
