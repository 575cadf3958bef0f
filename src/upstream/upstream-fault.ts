/**
 * The consequence of a fault: `refused`, this login fails; `ended`, the tokens are dead; `unavailable`, the
 * state is unknown, and a later attempt may succeed.
 */
export type UpstreamFaultKind = 'refused' | 'ended' | 'unavailable';

/** Messages of faults, by reason. */
export const upstreamReasons = {
  // Its network
  address_not_public: 'its host is, or has among its addresses, one that is not of the public internet',
  not_https: 'its URL is not https',
  certificate: 'its host has no valid certificate',
  unreachable: 'its host cannot be reached',
  timed_out: 'it did not answer in time',
  too_large: 'it sent more than is read',
  redirected: 'it answered with a redirect, which is not followed',
  server_error: 'it answered with an error of its own (5xx)',
  too_many_requests: 'it asks us to come later (429)',
  // Its metadata
  metadata_missing: 'it has no metadata at its issuer',
  metadata_malformed: 'its metadata does not follow the standard',
  metadata_issuer: 'its metadata is of another issuer',
  metadata_endpoint_not_https: 'its metadata names an endpoint that is not https',
  metadata_endpoint_host: 'its metadata names an endpoint on another host',
  metadata_endpoint_missing: 'its metadata lacks an endpoint',
  keys_malformed: 'its key set does not follow the standard',
  // The callback
  callback_malformed: 'the callback has a parameter twice, or none of an answer',
  callback_state: 'the callback has another state',
  callback_issuer: 'the callback names another issuer',
  callback_issuer_missing: 'the callback names no issuer, though its metadata promises one',
  denied: 'the person, or the upstream, said no',
  callback_error: 'the callback has an error',
  // The token endpoint
  grant_refused: 'it refused the code or refresh token (invalid_grant)',
  client_refused: 'it does not accept our client id, secret or key',
  token_error: 'its token endpoint answered with an error',
  person_required: 'it wants the person to log in or to agree again (interaction_required and the like)',
  token_no_object: 'its token endpoint answered with something else than a JSON object',
  token_malformed: 'its token endpoint did not answer as the standard asks',
  // ID tokens and logout tokens
  jwt_missing: 'it sent no ID token',
  jwt_malformed: 'its JWT cannot be read',
  jwt_algorithm: 'its JWT is signed by an algorithm that is not accepted',
  jwt_key: 'its JWT is signed with a key that is not among its keys',
  jwt_signature: 'the signature of its JWT is wrong',
  jwt_issuer: 'its JWT is of another issuer',
  jwt_audience: 'its JWT is meant for somebody else',
  jwt_authorized_party: 'its JWT was issued to another client',
  jwt_nonce: 'its ID token belongs to another login',
  jwt_auth_time: 'its ID token is of a login that is older than was asked for',
  jwt_auth_time_missing: 'its ID token does not say when the login was, though that was asked for',
  jwt_expired: 'its JWT has expired',
  jwt_from_future: 'its JWT is from the future',
  jwt_claims: 'its JWT lacks a claim, or has one of the wrong kind',
  jwt_access_token: 'its ID token was issued with another access token',
  logout_token_type: 'the JWT is no logout token',
  logout_token_nonce: 'the logout token has a nonce, as only ID tokens may',
  // Who it is
  user_info_refused: 'it does not accept the access token when asked who it is',
  user_info_malformed: 'its answer who it is does not follow the standard',
  user_info_subject: 'its answer is about somebody else than the ID token',
  // Giving tokens back
  revocation_refused: 'it refused to revoke',
} as const;

/** Names of {@link upstreamReasons}. */
export type UpstreamReason = keyof typeof upstreamReasons;

/**
 * A fault of an upstream. Its message contains only our own words: no part of a response, no URL with a
 * query, no secret. People see the text of the pages instead (T-085).
 */
export class UpstreamFault extends Error {
  override name = 'UpstreamFault';
  readonly kind: UpstreamFaultKind;
  readonly reason: UpstreamReason;
  /** Name of the upstream. */
  readonly upstream: string;
  readonly #successor: string | undefined;
  /**
   * @param detail more of our own words, e.g. the endpoint
   * @param options the cause, and a refresh token that came without an access token
   */
  constructor(
    upstream: string,
    kind: UpstreamFaultKind,
    reason: UpstreamReason,
    detail?: string,
    options?: ErrorOptions & { successor?: string | undefined },
  ) {
    super(
      `upstream ${upstream}: ${upstreamReasons[reason]}${detail === undefined ? '' : ` (${detail})`}`,
      options,
    );
    this.upstream = upstream;
    this.kind = kind;
    this.reason = reason;
    this.#successor = options?.successor;
  }

  /** A refresh token that came without an access token. It is private, because the log writes the members of errors. */
  get successor(): string | undefined {
    return this.#successor;
  }
}
