import {
  type BearerChallenge,
  formatBearerChallenge,
  formatDpopChallenge,
  type TokenScheme,
} from '../oauth/challenge.ts';
import type { ProtectedResourceMetadata } from '../oauth/metadata.ts';
import { formatScope } from '../oauth/scope.ts';
import { proofAlgorithms } from '../oauth/signature-algorithms.ts';

/** Reasons to refuse a request. */
export type RefusalReason =
  | 'no_credentials'
  | 'two_authorization_headers'
  | 'token_also_in_query'
  | 'malformed_token'
  | 'unusable_token'
  | 'wrong_audience'
  | 'other_server_chosen'
  | 'bound_token_as_bearer'
  | 'unbound_token_with_proof'
  | 'unbound_token'
  | 'unusable_proof'
  | 'nonce_needed'
  | 'insufficient_scope';

/** A refusal as sent. */
export interface BearerRefusal {
  reason: RefusalReason;
  status: 400 | 401 | 403;
  /** Value of `WWW-Authenticate`. */
  challenge: string;
  /** JSON of `error` and `error_description`. */
  body: string;
}

/** Resource data that a challenge contains. */
export interface ChallengeContext {
  /** URL of the protected resource metadata (RFC 9728 section 5.1). */
  resourceMetadataUrl: string;
  /** Scopes to request if the client has no token yet (A8-03). */
  baselineScopes: readonly string[];
  /** All scopes that this request requires (A8-04). */
  requiredScopes: readonly string[];
  /** Present if DPoP-bound tokens are accepted; `required` if no others are (RFC 9449). */
  dpop?: { required: boolean };
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
  other_server_chosen: {
    status: 403,
    error: 'invalid_token',
    description:
      'The access token is for another server, which was chosen at the login. A refresh does not change that: log in again, and choose this server.',
  },
  bound_token_as_bearer: {
    status: 401,
    error: 'invalid_token',
    description: 'The access token is bound to a key. Send it as "Authorization: DPoP" with a proof.',
  },
  unbound_token_with_proof: {
    status: 401,
    error: 'invalid_token',
    description: 'The access token is bound to no key. Send it as "Authorization: Bearer".',
  },
  unbound_token: {
    status: 401,
    error: 'invalid_token',
    description: 'This resource takes only access tokens that are bound to a key. Get one with a DPoP proof.',
  },
  unusable_proof: {
    status: 401,
    error: 'invalid_dpop_proof',
    description:
      'The DPoP proof is missing, used before, or not for this request, token and key. Make a new one.',
  },
  nonce_needed: {
    status: 401,
    error: 'use_dpop_nonce',
    description: 'Make the DPoP proof again, with the nonce of the DPoP-Nonce header.',
  },
  insufficient_scope: {
    status: 403,
    error: 'insufficient_scope',
    description: 'The access token lacks a scope. Ask for all scopes named in the challenge.',
  },
};

/** Refusals by context: a flood of invalid tokens gets the same response each time. */
const described = new WeakMap<ChallengeContext, Map<string, BearerRefusal>>();

/**
 * Builds the status, challenge and JSON body of a refusal. A request without credentials gets a challenge without
 * `error` (A8-09). A challenge with 401 names the baseline scopes, one with 403 all that the request requires. A 401
 * names every accepted scheme, the one used first.
 * @param context cached by identity: it must not change
 * @param scheme scheme by which the token was presented
 * @see RFC 6750 sections 3 and 3.1; RFC 9728 section 5.1; RFC 9449 section 7.1
 */
export function describeRefusal(
  reason: RefusalReason,
  context: ChallengeContext,
  scheme: TokenScheme = 'Bearer',
): BearerRefusal {
  let known = described.get(context);
  if (known === undefined) {
    known = new Map();
    described.set(context, known);
  }
  const name = `${scheme} ${reason}`;
  let refusal = known.get(name);
  if (refusal === undefined) {
    refusal = buildRefusal(reason, context, scheme);
    known.set(name, refusal);
  }
  return refusal;
}

function buildRefusal(reason: RefusalReason, context: ChallengeContext, scheme: TokenScheme): BearerRefusal {
  const { status, error, description } = rows[reason];
  const scopes = reason === 'insufficient_scope' ? context.requiredScopes : context.baselineScopes;
  const challenge: BearerChallenge = {
    ...(error === undefined ? {} : { error, error_description: description }),
    ...(status === 400 || scopes.length === 0 ? {} : { scope: formatScope(scopes) }),
    resource_metadata: context.resourceMetadataUrl,
  };
  return {
    reason,
    status,
    challenge: listSchemes(challenge, context, scheme, status === 401),
    body: JSON.stringify({ error: error ?? 'unauthorized', error_description: description }),
  };
}

function listSchemes(
  challenge: BearerChallenge,
  { dpop, resourceMetadataUrl }: ChallengeContext,
  used: TokenScheme,
  listAll: boolean,
): string {
  const algs = proofAlgorithms.join(' ');
  if (!dpop) return formatBearerChallenge(challenge);
  if (dpop.required || (used === 'DPoP' && !listAll)) return formatDpopChallenge({ ...challenge, algs });
  if (!listAll) return formatBearerChallenge(challenge);
  return used === 'Bearer'
    ? `${formatBearerChallenge(challenge)}, ${formatDpopChallenge({ algs })}`
    : `${formatDpopChallenge({ ...challenge, algs })}, ${formatBearerChallenge({ resource_metadata: resourceMetadataUrl })}`;
}

/** Input for the metadata of a protected resource. */
export interface ProtectedResourceDescription {
  /** Its canonical URL. */
  resource: string;
  /** Accepted issuers, at least one (A3-01). */
  authorizationServers: readonly string[];
  /** Scopes that a client should start with, not all scopes (A3-11). */
  scopesSupported: readonly string[];
  /** Display name. */
  name: string;
  /** URL of a page for developers. */
  documentationUrl?: string;
  /** Present if DPoP-bound tokens are accepted; `required` if no others are (RFC 9449). */
  dpop?: { required: boolean };
}

/**
 * Builds the metadata document of a protected resource. `offline_access` is no scope of a resource and never listed
 * (A3-10).
 * @throws TypeError for a resource without an authorization server: no client could get a token
 * @see RFC 9728 section 2
 */
export function buildProtectedResource(description: ProtectedResourceDescription): ProtectedResourceMetadata {
  const { resource, authorizationServers, scopesSupported, name, documentationUrl, dpop } = description;
  if (authorizationServers.length === 0)
    throw new TypeError('a protected resource needs at least one authorization server');
  return {
    resource,
    authorization_servers: [...authorizationServers],
    scopes_supported: scopesSupported.filter((scope) => scope !== 'offline_access'),
    bearer_methods_supported: ['header'],
    resource_name: name,
    ...(dpop && { dpop_signing_alg_values_supported: [...proofAlgorithms] }),
    ...(dpop?.required && { dpop_bound_access_tokens_required: true }),
    ...(documentationUrl === undefined ? {} : { resource_documentation: documentationUrl }),
  };
}
