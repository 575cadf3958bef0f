/** Verdict of a check. `unknown` is never `pass`: it cannot be determined from here. */
export type Verdict = 'pass' | 'warn' | 'fail' | 'skip' | 'unknown';

/** Products in front of a server whose configuration a hint can name. */
export type ProxyProduct = 'nginx' | 'caddy' | 'traefik' | 'apache' | 'haproxy' | 'cloudflare';

/** A check's report of its observation. */
export interface Judgement {
  verdict: Verdict;
  /** The observation, one or two sentences, with the decisive values. Holds no secret. */
  saw: string;
  /** The change to make, as exactly as it can be named from outside. Required with `warn` and `fail`. */
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
