/** A deviation in metadata and responses of servers that is accepted. */
export interface ReadingTolerance {
  /** The accepted deviation and its interpretation. */
  takes: string;
  /** The behaviour without the tolerance. */
  otherwise: string;
  /** The standard that a strict reading would apply. */
  strictly: string;
  /** The servers that need it, with a source. */
  becauseOf: string;
  from: string;
  /** The check of `gatehouse doctor` that reports the deviation. */
  check: string;
}

/**
 * All deviations of servers that the client, the upstream logins and the doctor accept, by the name in the trace of a
 * login. None of them sends a token, a code or a secret that would otherwise not be sent, except `providerEndpoints`,
 * whose origins are built in.
 */
export const readingTolerances = {
  challengeSpelling: {
    takes: 'a challenge without quotes, in single quotes, or with parts that its grammar does not have',
    otherwise: 'its parameters are not seen, and the login goes on without them',
    strictly: 'RFC 9110 section 11.6.1',
    becauseOf: 'servers write resource_metadata without quotes; the SDKs read it by a pattern',
    from: 'https://github.com/modelcontextprotocol/typescript-sdk/blob/main/packages/client/src/client/auth.ts',
    check: 'CHALLENGE-GRAMMAR',
  },
  challengeMetadata: {
    takes:
      'a resource_metadata that is empty, relative, on another origin or no URL: the well-known places are asked',
    otherwise: 'the login stops at the challenge',
    strictly: 'RFC 9728 section 5.1',
    becauseOf:
      'openHAB sends a relative one; others build it from an empty setting or the Host behind a proxy',
    from: 'https://github.com/openhab/openhab-addons/issues/21264',
    check: 'CHALLENGE-METADATA',
  },
  laterPlace: {
    takes: 'a well-known place with an error, a page or a redirect elsewhere: the next place is asked',
    otherwise: 'the login stops at the first place that is not right',
    strictly: 'RFC 8414 section 3.2, RFC 9728 section 3.2',
    becauseOf: 'Outline answered two of these places with a page and 200; SDK v2 passes a 502 and any 4xx',
    from: 'https://github.com/outline/outline/issues/11572',
    check: 'AS-FOUND',
  },
  originInstead: {
    takes:
      'protected resource metadata that cannot be read, as none, if the origin publishes metadata of its own',
    otherwise: 'the login stops there',
    strictly: 'RFC 9728 section 3.3',
    becauseOf: 'the SDKs take whatever is wrong there for a server of 2025-03-26',
    from: 'https://github.com/modelcontextprotocol/typescript-sdk/blob/main/packages/client/src/client/auth.ts',
    check: 'PRM-DOCUMENT',
  },
  sameOriginRedirect: {
    takes:
      'a redirect within the origin, of metadata, and with 307 or 308 of the other endpoints, up to five times',
    otherwise: 'nothing is read there',
    strictly: 'RFC 9110 section 15.4, RFC 9700 section 4.12',
    becauseOf:
      'Starlette and others redirect to the path with a slash; the SDKs follow that within the origin',
    from: 'https://github.com/maxkuminov/obsidian-mcp/pull/30',
    check: 'PRM-DOCUMENT',
  },
  mediaType: {
    takes: 'a JSON object with another media type than application/json, or without one',
    otherwise: 'it counts as a page',
    strictly: 'RFC 8414 section 3.2, RFC 6749 section 5.1',
    becauseOf: 'files served by a web server that knows no type for them; the SDKs read the body alone',
    from: 'https://github.com/modelcontextprotocol/typescript-sdk/blob/main/packages/client/src/client/auth.ts',
    check: 'PRM-DOCUMENT',
  },
  byteOrderMark: {
    takes: 'a byte order mark before a JSON object',
    otherwise: 'it is no JSON',
    strictly: 'RFC 8259 section 8.1',
    becauseOf: 'files written by editors of Windows; fetch takes the mark off, and so do the SDKs',
    from: 'https://encoding.spec.whatwg.org/#utf-8-decode',
    check: 'PRM-DOCUMENT',
  },
  answerStatus: {
    takes: 'any status of success with the token, the client or the device code that was asked for',
    otherwise: 'what was issued is thrown away, and a used refresh token has no successor',
    strictly: 'RFC 6749 section 5.1, RFC 7591 section 3.2.1',
    becauseOf: 'token endpoints that answer 201, registration endpoints that answer 200',
    from: 'https://github.com/modelcontextprotocol/typescript-sdk/blob/main/packages/client/src/client/auth.ts',
    check: 'LOGIN-TOKEN-RESPONSE',
  },
  errorStatus: {
    takes: 'an error with a status of success, as a refusal',
    otherwise: 'the answer cannot be read, and nobody is told why',
    strictly: 'RFC 6749 section 5.2',
    becauseOf: 'GitHub and Slack answer errors with 200',
    from: 'https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors',
    check: 'LOGIN-TOKEN-ERROR',
  },
  emptyAnswerMembers: {
    takes: 'members that are null or empty, as absent ones',
    otherwise: 'the answer cannot be read',
    strictly: 'RFC 6749 section 5.1, RFC 8414 section 3.2, RFC 7591 section 3.2.1',
    becauseOf: 'servers whose language writes each member that it knows, such as id_token as null',
    from: 'https://github.com/jentic/jentic-one/issues/1253',
    check: 'AS-MEMBERS',
  },
  scopeList: {
    takes: 'scope as a list, for the words in it',
    otherwise: 'the answer cannot be read',
    strictly: 'RFC 6749 section 3.3',
    becauseOf: 'Twitch answers scope as a list',
    from: 'https://dev.twitch.tv/docs/authentication/getting-tokens-oauth/',
    check: 'LOGIN-TOKEN-RESPONSE',
  },
  textForValue: {
    takes: 'a number, a list, true or false written as a text, for what it says',
    otherwise: 'the member counts as absent, or the answer cannot be read',
    strictly: 'RFC 6749 section 5.1, RFC 8414 section 2',
    becauseOf: 'Entra ID writes expires_in as a text; the SDKs read it',
    from: 'https://github.com/LibreChat-AI/librechat.ai/issues/420',
    check: 'LOGIN-TOKEN-RESPONSE',
  },
  unusableSeconds: {
    takes: 'expires_in and others that are no number of seconds, as absent ones',
    otherwise: 'the answer cannot be read',
    strictly: 'RFC 6749 section 5.1',
    becauseOf: 'servers that write never or -1 for a token without an end; litellm reads it in the same way',
    from: 'https://github.com/BerriAI/litellm/pull/20788',
    check: 'LOGIN-TOKEN-RESPONSE',
  },
  missingTokenType: {
    takes: 'a token without token_type, as a bearer token',
    otherwise: 'the token is thrown away',
    strictly: 'RFC 6749 section 5.1',
    becauseOf: 'the OAuth library of Go takes it in the same way, and so nobody notices',
    from: 'https://pkg.go.dev/golang.org/x/oauth2#Token.Type',
    check: 'LOGIN-TOKEN-RESPONSE',
  },
  secretWithoutEnd: {
    takes: 'a client secret without client_secret_expires_at, as one without an end',
    otherwise: 'the registration cannot be read',
    strictly: 'RFC 7591 section 3.2.1',
    becauseOf: 'registration endpoints that leave it out',
    from: 'https://github.com/modelcontextprotocol/typescript-sdk/blob/main/packages/core/src/shared/auth.ts',
    check: 'REG-AUTH-METHOD',
  },
  issuerSlash: {
    takes: 'an issuer whose metadata writes it with or without the one slash at its end',
    otherwise: 'the metadata counts as that of another issuer',
    strictly: 'RFC 8414 section 3.3',
    becauseOf: 'the MCP servers of Google name their issuer with a slash; its metadata has none',
    from: 'https://github.com/modelcontextprotocol/python-sdk/issues/1919',
    check: 'AS-ISSUER',
  },
  providerEndpoints: {
    takes: 'endpoints of a known provider on the hosts that it is known to have them on',
    otherwise: 'the login stops until that origin is allowed',
    strictly: 'RFC 8414 section 2, read with T-088',
    becauseOf: 'Google has its issuer at accounts.google.com and its token endpoint at oauth2.googleapis.com',
    from: 'https://github.com/modelcontextprotocol/typescript-sdk/issues/616',
    check: 'AS-ENDPOINT-ORIGIN',
  },
} as const satisfies Record<string, ReadingTolerance>;

/** The name of a tolerance for servers. */
export type ReadingToleranceName = keyof typeof readingTolerances;

/** The names of all of them, in order. */
export const readingToleranceNames = Object.keys(readingTolerances) as ReadingToleranceName[];
