/** What a check of an upstream came to; `unknown` says that nobody can tell from here, and is never `pass`. */
export type UpstreamVerdict = 'pass' | 'warn' | 'fail' | 'unknown';

/** One thing that was looked at. */
export interface UpstreamFinding {
  /** Stable, in capitals: `UP-ISSUER`. Scripts name it. */
  id: string;
  verdict: UpstreamVerdict;
  /** What was seen, with the values that decide. Holds no secret. */
  saw: string;
  /** What to change; with `warn` and `fail`. */
  fix?: string;
}

/** All is well. */
export function sound(id: string, saw: string): UpstreamFinding {
  return { id, verdict: 'pass', saw };
}

/** Logins will not work. @param fix what to change, and where */
export function broken(id: string, saw: string, fix: string): UpstreamFinding {
  return { id, verdict: 'fail', saw, fix };
}

/** Something works less well than it could. @param fix what to change, and where */
export function doubtful(id: string, saw: string, fix: string): UpstreamFinding {
  return { id, verdict: 'warn', saw, fix };
}

/** Nobody can tell without a login. */
export function untold(id: string, saw: string): UpstreamFinding {
  return { id, verdict: 'unknown', saw };
}
