import type { PeerName } from './peer.ts';

/** `verdict id` with the reason, in the peer, why that is true. */
type Findings = Readonly<Record<string, string>>;

const noPreflight = 'the MCP endpoint answers OPTIONS with 401: a deployer puts CORS in front';
const unreadable = 'no Access-Control-Allow-Origin at the 401, for the same reason';
const documentWithoutCors = 'the metadata is served without Access-Control-Allow-Origin';
const noScope = 'no scopes are required of a connection, so the challenge names none';

/** What the doctor says of each peer, without writing anything there. */
export const passiveFindings: Readonly<Record<PeerName, Findings>> = {
  'sdk-v1': {
    'warn CHALLENGE-SCOPE': noScope,
    'fail CHALLENGE-BAD-TOKEN':
      'the demo throws a plain Error for a token it does not know, which requireBearerAuth answers with 500',
    'warn CORS-PREFLIGHT': noPreflight,
    'warn CORS-CHALLENGE': unreadable,
    'warn AS-ISS': 'mcpAuthRouter knows no iss',
  },
  'oidc-provider': {
    'warn CHALLENGE-SCOPE': noScope,
    'warn CORS-PREFLIGHT': noPreflight,
    'warn CORS-CHALLENGE': unreadable,
    'warn PRM-CORS': documentWithoutCors,
    'warn AS-CORS': 'the registration endpoint has no CORS, unlike the others',
  },
  'better-auth': {
    'warn CHALLENGE-SCOPE': noScope,
    'warn CHALLENGE-BAD-TOKEN': 'requireMcpAuth sends the same challenge whether a token came or not',
    'warn CORS-PREFLIGHT': noPreflight,
    'warn CORS-CHALLENGE': unreadable,
    'warn PRM-CORS': documentWithoutCors,
    'warn AS-CORS': 'neither metadata nor token and registration endpoint have CORS',
  },
  'workers-oauth-provider': {},
};

/** What it says when it may register and log in. */
export const activeFindings: Readonly<Record<PeerName, Findings>> = {
  'sdk-v1': {
    'fail REG-HTTP-REDIRECT': 'any http redirect URI is registered',
    'fail LOGIN-LOOPBACK-PORT': 'the SDK lets the port be free, but the demo compares once more, as strings',
    'warn LOGIN-UNKNOWN-RESOURCE': 'the demo looks at the resource only where it is given validateResource',
    'warn LOGIN-TOKEN-ERROR': 'a plain Error for a code that was never issued becomes 500 server_error',
    'warn LOGIN-REFRESH-TOKEN':
      'it advertises refresh_token and issues none: "Not implemented for example demo"',
    'warn LOGIN-CODE-REDIRECT': 'redirect_uri is not passed on to a comparison',
    'warn LOGIN-CODE-ONCE': 'a used code is refused, with 500 server_error as above',
    'warn LOGIN-CODE-REVOKES': 'nothing but the refusal happens',
  },
  'oidc-provider': {},
  'better-auth': {
    'warn LOGIN-VERIFIER':
      'a wrong code_verifier is refused with 401 invalid_request in place of invalid_grant',
  },
  'workers-oauth-provider': {
    'warn LOGIN-REUSE': 'a used refresh token is refused, and the grant goes on',
  },
};
