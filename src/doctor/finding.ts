/** What a check came to. `unknown` is never `pass`: it says that nobody can tell from here. */
export type Verdict = 'pass' | 'warn' | 'fail' | 'skip' | 'unknown';

/** Products in front of a server whose configuration a hint can name. */
export type ProxyProduct = 'nginx' | 'caddy' | 'traefik' | 'apache' | 'haproxy' | 'cloudflare';

/** What a check says of what it saw. */
export interface Judgement {
  verdict: Verdict;
  /** What was seen, one or two sentences, with the values that decide. Holds no secret. */
  saw: string;
  /** What to change, as exactly as can be said from outside. Required with `warn` and `fail`. */
  fix?: string;
  /** Lines to change by product, if one of them may be the cause. */
  hints?: readonly { product: ProxyProduct; lines: string }[];
  /** Id of the check whose failure explains this one. */
  because?: string;
  /** Numbers of the exchanges that show it, see `Exchange.number`. */
  evidence?: readonly number[];
}

/** A judgement with what the check is. */
export interface Finding extends Judgement {
  id: string;
  section: string;
  title: string;
  clause: string;
}
