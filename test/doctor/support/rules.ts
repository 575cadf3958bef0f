/** What the sound server does; a fault switches one off, or sets it to something else. */
export interface Rules {
  /** PKCE with S256 is demanded at the authorization endpoint. */
  requiresPkce: boolean;
  acceptsPlainPkce: boolean;
  /** The verifier is compared at the token endpoint. */
  checksVerifier: boolean;
  /** Only registered redirect URIs; any port on loopback. */
  checksRedirectUri: boolean;
  anyLoopbackPort: boolean;
  /** `http` redirect URIs that are not loopback are refused at registration. */
  refusesPlainHttpRedirects: boolean;
  returnsState: boolean;
  /** `iss` of the authorization response; null leaves it out. */
  issOfResponse: (issuer: string) => string | null;
  /** Only the resource there is gets a token. */
  checksResource: boolean;
  codesAreSingleUse: boolean;
  /** The second use of a code ends the grant. */
  codeReuseRevokes: boolean;
  issuesRefreshTokens: boolean;
  rotatesRefreshTokens: boolean;
  /** A refresh token that comes back after its grace ends the grant. */
  detectsReuse: boolean;
  /** Milliseconds in which a rotated refresh token still gets the answer of its rotation. */
  refreshGraceMs: number;
  /** Within the grace the answer is the same; else tokens of its own. */
  repeatsWithinGrace: boolean;
  expiresInSeconds: number;
  /** Scopes granted of those asked for. */
  grantedScopes: (asked: readonly string[]) => readonly string[];
  /** Audience of access tokens. */
  audience: (resource: string) => string;
  /** Seconds added to the clock that stamps tokens. */
  clockSkewSeconds: number;
  /** The MCP server looks at the audience. */
  checksAudience: boolean;
  /** A revoked token is refused. */
  revocationCounts: boolean;
  /** Status for an `Mcp-Session-Id` that does not exist. */
  staleSessionStatus: number;
  /** Status for a call beyond the token's scopes. */
  insufficientScopeStatus: number;
}

/** A server with nothing to complain about. */
export const soundRules: Rules = {
  requiresPkce: true,
  acceptsPlainPkce: false,
  checksVerifier: true,
  checksRedirectUri: true,
  anyLoopbackPort: true,
  refusesPlainHttpRedirects: true,
  returnsState: true,
  issOfResponse: (issuer) => issuer,
  checksResource: true,
  codesAreSingleUse: true,
  codeReuseRevokes: true,
  issuesRefreshTokens: true,
  rotatesRefreshTokens: true,
  detectsReuse: true,
  refreshGraceMs: 300,
  repeatsWithinGrace: true,
  expiresInSeconds: 3600,
  grantedScopes: (asked) => asked,
  audience: (resource) => resource,
  clockSkewSeconds: 0,
  checksAudience: true,
  revocationCounts: true,
  staleSessionStatus: 404,
  insufficientScopeStatus: 403,
};
