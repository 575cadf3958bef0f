/** How long a login in a browser lasts, in seconds. */
export interface SessionLife {
  /** From the login, however often it is used. */
  sessionSeconds: number;
  /** Without being used. */
  sessionIdleSeconds: number;
}

/**
 * How long a login may go on unused from now on: never past its end (T-124).
 * @param loginTs when the person logged in, epoch seconds; undefined for a session in which nobody did
 * @param now epoch seconds
 * @returns seconds, at least 1
 * @see OWASP ASVS 5.0 section 7.3
 */
export function sessionTtl(life: SessionLife, loginTs: number | undefined, now: number): number {
  const ends = (loginTs ?? now) + life.sessionSeconds;
  return Math.max(1, Math.min(life.sessionIdleSeconds, ends - now));
}
