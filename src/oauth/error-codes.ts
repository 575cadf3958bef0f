/** OAuth error codes this product emits or understands (RFC 6749 4.1.2.1 and 5.2, 6750 3.1, 7591 3.2.2, 8707 2). */
export const oauthErrorCodes = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'invalid_scope',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
  'invalid_token',
  'insufficient_scope',
  'invalid_target',
  'invalid_redirect_uri',
  'invalid_client_metadata',
] as const;

/** One of {@link oauthErrorCodes}. */
export type OAuthErrorCode = (typeof oauthErrorCodes)[number];
