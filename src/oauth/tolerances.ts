/** A deviation from a strict reading of the standards that the server accepts from its clients. */
export interface Tolerance {
  /** The accepted deviation. */
  takes: string;
  /** The behaviour without the tolerance. */
  otherwise: string;
  /** The standard that a strict reading would apply. */
  strictly: string;
  /** The clients that need it, with a source. */
  becauseOf: string;
  from: string;
}

/**
 * All tolerances of the authorization server, by their names in the settings (`clients.tolerances`). What a standard
 * requires of servers is no tolerance: a refresh without `scope` (RFC 6749 section 6) or another loopback port of
 * 127.0.0.1 (RFC 8252 section 7.3) is always accepted.
 */
export const tolerances = {
  repeatedRefresh: {
    takes: 'a refresh token that was used within tokens.refreshGraceSeconds, for the same answer again',
    otherwise: 'the second use of a refresh token ends the login',
    strictly: 'RFC 9700 section 4.14.2',
    becauseOf: 'Claude Code, Codex, claude.ai and others refresh from several processes or machines at once',
    from: 'https://github.com/anthropics/claude-code/issues/84440',
  },
  unaskedRefreshToken: {
    takes: 'a code without offline_access, for a refresh token as well',
    otherwise: 'a client that does not ask for offline_access with prompt=consent logs in anew each hour',
    strictly: 'OpenID Connect Core 1.0 section 11',
    becauseOf: 'ChatGPT, Antigravity CLI, oh-my-pi and most others never ask for it',
    from: 'https://github.com/usenotra/notra/pull/498',
  },
  localhostPort: {
    takes: 'a redirect URI on localhost with another port than the registered one',
    otherwise: 'redirect URIs on localhost are compared with their port',
    strictly: 'RFC 8252 section 8.3',
    becauseOf:
      'Claude Code registers http://localhost/callback and listens on a port of the moment; mcp-remote too',
    from: 'https://github.com/anthropics/claude-code/issues/37767',
  },
  applicationType: {
    takes: 'redirect URIs that do not fit the application_type a client names or leaves out',
    otherwise: 'apps that do not say they are native cannot register schemes of their own, nor change ports',
    strictly: 'OpenID Connect Dynamic Client Registration 1.0 section 2',
    becauseOf: 'Cursor registers a scheme of its own, a site and localhost at once, and names no type',
    from: 'https://github.com/erp-mafia/accounted/issues/2225',
  },
  unnamedAuthMethod: {
    takes: 'a registration without token_endpoint_auth_method, for a public client',
    otherwise: 'such a client gets a secret, which it has to send',
    strictly: 'RFC 7591 section 2',
    becauseOf: 'clients that leave it out and send no secret; the Python SDK got the method wrong',
    from: 'https://github.com/modelcontextprotocol/python-sdk/issues/1315',
  },
  authMethodChoices: {
    takes:
      'a client that prefers private_key_jwt without keys for it, and has none in its list, for a public one',
    otherwise: 'its registration or its document is refused',
    strictly: 'RFC 7591 section 2',
    becauseOf: 'ChatGPT names private_key_jwt beside a list with none, and may send no assertion',
    from: 'https://github.com/cloudflare/workers-oauth-provider/pull/302',
  },
  registeredScope: {
    takes: 'a scope in a registration, whatever is in it: it neither limits the client nor is refused',
    otherwise: 'a registration with a scope that does not exist here is refused',
    strictly: 'RFC 7591 section 2',
    becauseOf: 'VS Code registers with scopes of other places, and asks for others later',
    from: 'https://github.com/clerk/mcp-tools/pull/9',
  },
  registeredGrantTypes: {
    takes: 'grant types in a registration that do not exist here, by leaving them out',
    otherwise: 'a registration that names one is refused',
    strictly: 'RFC 7591 section 2.1',
    becauseOf: 'VS Code registers for the device flow as well where no grant types are listed',
    from: 'https://github.com/microsoft/vscode/blob/05f882b02c51633f2e1e8252722f8c3b626d74a9/src/vs/base/common/oauth.ts',
  },
  emptyMembers: {
    takes: 'members of a registration that are null or empty, for absent ones',
    otherwise: 'a registration with one is refused',
    strictly: 'RFC 7591 section 2',
    becauseOf: 'Gemini CLI registers an empty scope; others send all members they know of',
    from: 'https://github.com/google-gemini/gemini-cli/blob/0467592364ba09be2aa9391e4d9fe27a913f3fa3/packages/core/src/mcp/oauth-provider.ts',
  },
  missingScope: {
    takes: 'an authorization request without scopes, for one for the baseline scopes',
    otherwise: 'it is refused with invalid_scope',
    strictly: 'RFC 6749 section 3.3',
    becauseOf: 'Codex ignores the scopes of the challenge',
    from: 'https://github.com/openai/codex/issues/15643',
  },
  missingResource: {
    takes:
      'an authorization request without resource, for one for /mcp; of several servers the person chooses',
    otherwise: 'it is refused with invalid_target',
    strictly: 'RFC 8707 section 2',
    becauseOf: 'clients of the revision 2025-03-26 know no resource; the Python SDK sends it by revision',
    from: 'https://github.com/modelcontextprotocol/python-sdk/issues/1265',
  },
  resourceSpelling: {
    takes: 'a resource with a slash at its end, capital letters in its host, or its default port',
    otherwise: 'only the resource as it is published is known',
    strictly: 'RFC 8707 section 2',
    becauseOf: 'Claude Code and the AI SDK add a slash',
    from: 'https://github.com/anthropics/claude-code/issues/52871',
  },
  shortenedResource: {
    takes: 'the public URL or its origin as resource, for /mcp',
    otherwise: 'it is refused with invalid_target',
    strictly: 'RFC 8707 section 2',
    becauseOf: 'Claude Code collapses the resource to its origin',
    from: 'https://github.com/anthropics/claude-code/issues/52871',
  },
  joinedResources: {
    takes: 'several resources in one parameter, with commas or spaces between them',
    otherwise: 'the whole is taken for one resource, which is unknown',
    strictly: 'RFC 8707 section 2',
    becauseOf: 'libraries that cannot repeat a parameter join them; Logto takes them apart as well',
    from: 'https://github.com/logto-io/js/issues/670',
  },
  discoveryAliases: {
    takes:
      'metadata asked for at places that follow no standard: with /mcp taken for the issuer, or appended to /mcp',
    otherwise: 'metadata is found where the standards put it',
    strictly: 'RFC 8414 section 3.1, RFC 9728 section 3.1',
    becauseOf: 'MCP Inspector, mcp-remote, Gemini CLI and Claude Code look there where the issuer has a path',
    from: 'https://github.com/modelcontextprotocol/inspector/issues/2296',
  },
  defaultEndpoints: {
    takes: 'requests to /authorize, /token and the like at the origin where the public URL has a path',
    otherwise: 'endpoints are found where the metadata says',
    strictly: 'RFC 8414 section 2',
    becauseOf: 'VS Code and clients of the revision 2025-03-26 take these where they find no metadata',
    from: 'https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization',
  },
  trailingSlash: {
    takes: 'a slash at the end of a path: /mcp/, /token/, metadata',
    otherwise: 'such a path does not exist',
    strictly: 'RFC 3986 section 6',
    becauseOf: 'the table of endpoints in the revision 2025-03-26 has the slashes, and people type them',
    from: 'https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization',
  },
} as const satisfies Record<string, Tolerance>;

/** The name of a tolerance. */
export type ToleranceName = keyof typeof tolerances;

/** The names of all tolerances, in order. */
export const toleranceNames = Object.keys(tolerances) as ToleranceName[];
