import type { Subject } from './subject.ts';

/** Section of the report. */
type Section =
  | 'reach'
  | 'resource'
  | 'issuer'
  | 'registration'
  | 'login'
  | 'token'
  | 'machine'
  | 'proxy'
  | 'clients';

/** One rule that a server is checked against. */
export interface Check {
  /** Stable id in capitals (`PRM-RESOURCE`), which scripts and bug reports use. */
  id: string;
  section: Section;
  /** The rule as a sentence. */
  title: string;
  /** Clause of the standard, with its document. */
  clause: string;
  /** True if it writes anything at the server, such as a registration or a login: it runs only with `--active`. */
  active?: true;
  /**
   * Ids of checks that must succeed before this one. If one of them failed, or was skipped because of a failure, this
   * one is skipped and names the first cause.
   */
  needs?: readonly string[];
  /** Maximum time in milliseconds, if it waits for more than responses; see `examine`. */
  patienceMs?: number;
  /** Judges the server. It gets its facts through `subject.fact`, so that checks share exchanges. */
  judge(subject: Subject): Promise<Judgement>;
}

/** Verdict of a check. `unknown` is never `pass`: it cannot be determined from here. */
export type Verdict = 'pass' | 'warn' | 'fail' | 'skip' | 'unknown';

/** Products in front of a server whose configuration a hint can name. */
export type ProxyProduct = 'nginx' | 'caddy' | 'traefik' | 'apache' | 'haproxy' | 'cloudflare';

/** Result of a check. */
export interface Judgement {
  verdict: Verdict;
  /** The observation in one or two sentences, with the decisive values. Contains no secret. */
  saw: string;
  /** The necessary change, as exactly as possible from outside. Required for `warn` and `fail`. */
  fix?: string;
  /** Configuration lines to change for each product that may be the cause. */
  hints?: readonly { product: ProxyProduct; lines: string }[];
  /** Id of the check whose failure explains this one. */
  because?: string;
  /** Numbers of the relevant exchanges, see `Exchange.number`. */
  evidence?: readonly number[];
}

/** A judgement with the data of its check. */
export interface Finding extends Judgement {
  id: string;
  section: string;
  title: string;
  clause: string;
}

/** Optional parts of a judgement. `evidence`: exchanges other than those of the requested facts. */
interface More {
  hints?: readonly { product: ProxyProduct; lines: string }[] | undefined;
  because?: string | undefined;
  evidence?: readonly number[] | undefined;
}

function judgement(
  verdict: Judgement['verdict'],
  saw: string,
  fix: string | undefined,
  more: More,
): Judgement {
  return {
    verdict,
    saw,
    ...(fix === undefined ? {} : { fix }),
    ...(more.hints === undefined || more.hints.length === 0 ? {} : { hints: more.hints }),
    ...(more.because === undefined ? {} : { because: more.because }),
    ...(more.evidence === undefined ? {} : { evidence: more.evidence }),
  };
}

/**
 * The server follows the rule.
 * @param saw the values that show it
 */
export function pass(saw: string, more: More = {}): Judgement {
  return judgement('pass', saw, undefined, more);
}

/**
 * The server breaks the rule, and clients fail because of it.
 * @param fix the necessary change
 */
export function fail(saw: string, fix: string, more: More = {}): Judgement {
  return judgement('fail', saw, fix, more);
}

/**
 * Some clients fail, or something works worse than possible.
 * @param fix the necessary change
 */
export function warn(saw: string, fix: string, more: More = {}): Judgement {
  return judgement('warn', saw, fix, more);
}

/** The rule does not apply to the server. */
export function skip(saw: string, more: More = {}): Judgement {
  return judgement('skip', saw, undefined, more);
}

/** The result cannot be determined from here. */
export function unknown(saw: string, more: More = {}): Judgement {
  return judgement('unknown', saw, undefined, more);
}
