import type { UpstreamReason } from '../upstream-fault.ts';

/** The result of a check of an upstream; `unknown` means that it cannot be tested without a login. */
export type UpstreamVerdict = 'pass' | 'warn' | 'fail' | 'unknown';

/** The finding of one check. */
export interface UpstreamFinding {
  /** A stable id in capitals, for scripts: `UP-ISSUER`. */
  id: string;
  verdict: UpstreamVerdict;
  /** The observation, with the values that decide, and without secrets. */
  saw: string;
  /** The solution; with `warn` and `fail`. */
  fix?: string;
}

/** Creates a finding without a problem. */
export function sound(id: string, saw: string): UpstreamFinding {
  return { id, verdict: 'pass', saw };
}

/**
 * Creates a finding for logins that will fail.
 * @param fix what to change, and where
 */
export function broken(id: string, saw: string, fix: string): UpstreamFinding {
  return { id, verdict: 'fail', saw, fix };
}

/**
 * Creates a finding for a weakness.
 * @param fix what to change, and where
 */
export function doubtful(id: string, saw: string, fix: string): UpstreamFinding {
  return { id, verdict: 'warn', saw, fix };
}

/** Creates a finding for a question that needs a login. */
export function needsLogin(id: string, saw: string): UpstreamFinding {
  return { id, verdict: 'unknown', saw };
}

/** Solutions for each fault of an upstream, for the operator. */
export const reasonFixes: Readonly<Record<UpstreamReason, string>> = {
  address_not_public:
    'Where it is your own server on a private network, set "allowPrivateNetwork": true for this upstream; else correct its URL.',
  not_https: 'Give its https URL. Plain http is taken on localhost alone, for development.',
  certificate:
    'Renew its certificate, or serve the whole chain. For an authority of your own start the server with NODE_EXTRA_CA_CERTS.',
  unreachable: 'Check its host name, and that this machine may connect to it (name server, firewall).',
  timed_out: 'Check that this machine may connect to it; a firewall that drops packets looks like this.',
  too_large: 'Check that the URL is that of an authorization server: its documents are small.',
  redirected:
    'Give the URL it redirects to: redirects are not followed, because they would take secrets along.',
  server_error: 'Look into its log: it fails on its own. Try again when it is well.',
  too_many_requests: 'Wait, and try again.',
  metadata_missing:
    'Check "issuer": its metadata stands at <issuer>/.well-known/openid-configuration or /.well-known/oauth-authorization-server. For a server without metadata give its endpoints in the place of the issuer.',
  metadata_malformed: 'Open its metadata in a browser: it has to be one JSON object, as application/json.',
  metadata_issuer:
    'Write "issuer" in the settings as the metadata has it, character by character: a slash at the end, upper case or another tenant is another issuer.',
  metadata_endpoint_not_https: 'Tell it its public https URL: behind a proxy it may think that it is http.',
  metadata_endpoint_host:
    'Its endpoints have to be on the host of its issuer, or on one that the preset knows. Correct its public URL, or choose the preset.',
  metadata_endpoint_missing:
    'It is no authorization server with the code flow, or that flow is switched off there.',
  keys_malformed: 'Open its jwks_uri in a browser: it has to be a key set with public keys alone.',
  callback_malformed:
    'Nothing here: a browser came back with a damaged address. If it always does, look at what stands between.',
  callback_state: 'Log in again. If it always happens, something between rewrites the callback.',
  callback_issuer: 'Each upstream needs its own callback URL; register this one at this upstream alone.',
  callback_issuer_missing:
    'Its metadata promises "iss" in the callback (RFC 9207). Look at what stands between.',
  denied: 'The person refused, or may not use this client there: assign them to it.',
  callback_error:
    'Look into its log; most often a scope is not allowed for this client, or the client is disabled.',
  grant_refused:
    'Where every login fails so: register exactly the callback URL that gatehouse upstream test prints, and compare the clocks.',
  client_refused:
    'Compare clientId with the one registered there, and put its current secret into clientSecretFile, without quotes; where it wants a key, give clientKeyFile. Check that the client is enabled there.',
  token_error: 'Look into its log: the code flow may not be allowed for this client.',
  person_required:
    'Nothing here: the person logs in again. If it comes often, look at its rules for sessions.',
  token_no_object: 'Check "tokenEndpoint": a page answers there, of a proxy perhaps.',
  token_malformed: 'Check "tokenEndpoint": something else answers there.',
  jwt_missing: 'Ask for the scope openid, or leave "issuer" out and give endpoints if it is plain OAuth 2.0.',
  jwt_malformed: 'Have it send signed ID tokens that are not encrypted.',
  jwt_algorithm: 'Have it sign ID tokens for this client with RS256, PS256, ES256 or EdDSA.',
  jwt_key: 'Check that its jwks_uri has the key it signs with now.',
  jwt_signature: 'Check that its jwks_uri is that of this server, and no copy of an old one.',
  jwt_issuer: 'Give the issuer that stands in its ID tokens; at Entra that of your tenant, not of "common".',
  jwt_audience: 'Compare clientId with the one registered there.',
  jwt_authorized_party: 'Use a client of its own for this server.',
  jwt_nonce:
    'Log in again. If it always happens, it does not send the nonce back: give endpoints in the place of "issuer".',
  jwt_auth_time: 'Have it ask people to log in again for prompt=login and max_age.',
  jwt_auth_time_missing:
    'Have it send auth_time in ID tokens where max_age is asked for. Where it cannot, use its preset, or give endpoints in the place of "issuer".',
  jwt_expired: 'Compare the clocks of both machines.',
  jwt_from_future: 'Compare the clocks of both machines.',
  jwt_claims: 'Have it send sub, aud, iat and exp in its ID tokens.',
  jwt_access_token:
    'Look at what stands between: the answer of its token endpoint was put together from two.',
  logout_token_type: 'Send logout tokens to the back-channel logout URL, and nothing else.',
  logout_token_nonce: 'Send logout tokens to the back-channel logout URL, not ID tokens.',
  user_info_refused: 'Ask for the scope its user info wants (openid, or what its API calls it).',
  user_info_malformed: 'Correct "userInfoEndpoint", and "userInfo", which names the members of its answer.',
  user_info_subject: 'Look at what stands between: a cache may give answers of others.',
  revocation_refused: 'Allow this client to revoke its tokens there. Until then they end when they expire.',
};
