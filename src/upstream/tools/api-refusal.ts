/** Why a tool cannot call the API of an upstream. */
export type ApiRefusalReason =
  | 'upstream_unknown'
  | 'no_person'
  | 'url_not_allowed'
  | 'body_not_allowed'
  | 'upstream_unavailable'
  | 'api_unreachable'
  | 'token_refused';

/**
 * A tool cannot call the API of an upstream. The message says what to do, and is fit for the person who called the tool: it
 * holds no token and nothing the API has said.
 */
export class ApiRefusal extends Error {
  override name = 'ApiRefusal';
  readonly reason: ApiRefusalReason;
  constructor(reason: ApiRefusalReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
