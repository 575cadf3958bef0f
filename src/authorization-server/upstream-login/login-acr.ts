const prefix = 'urn:gatehouse:upstream:';

/**
 * Returns the `acr` that links the engine's login session to an upstream session; it is in no token (OpenID Connect
 * Core 1.0 section 2).
 * @param sessionId of the upstream session
 */
export function acrOfUpstreamSession(sessionId: string): string {
  return `${prefix}${sessionId}`;
}

/** Returns the upstream session a login session came through; undefined if it came another way. */
export function upstreamSessionOfAcr(acr: string | undefined): string | undefined {
  return acr?.startsWith(prefix) ? acr.slice(prefix.length) : undefined;
}
