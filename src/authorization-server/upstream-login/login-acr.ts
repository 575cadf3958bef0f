const prefix = 'urn:gatehouse:upstream:';

/**
 * How the engine's login session remembers the login at an upstream it came through: as its `acr`, which goes into no
 * token (OpenID Connect Core 1.0 section 2).
 * @param sessionId of the upstream session
 */
export function acrOfUpstreamSession(sessionId: string): string {
  return `${prefix}${sessionId}`;
}

/** Gives the upstream session a login session came through; undefined where it came another way. */
export function upstreamSessionOfAcr(acr: string | undefined): string | undefined {
  return acr?.startsWith(prefix) ? acr.slice(prefix.length) : undefined;
}
