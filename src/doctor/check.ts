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

/** One question about a server. */
export interface Check {
  /** Stable, in capitals: `PRM-RESOURCE`. Scripts and bug reports name it. */
  id: string;
  section: Section;
  /** The rule as a sentence. */
  title: string;
  /** The standard's clause, with its document. */
  clause: string;
  /** True if it registers, logs in or writes anything at the server: only with `--active`. */
  active?: true;
  /**
   * Ids of checks that must succeed before this one. If one of them failed, or was skipped because of a failure, this
   * one is skipped and names the first cause.
   */
  needs?: readonly string[];
  /** Longest time it may take in milliseconds, if it waits for more than answers; see `examine`. */
  patienceMs?: number;
  /** Looks at the facts and judges. It gets them with `subject.fact`, so that checks share each exchange. */
  judge(subject: Subject): Promise<Judgement>;
}

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

/** Additions to a finding: lines to change by product, and exchanges other than those of the requested facts. */
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

/** The rule is kept. @param saw the values that show it */
export function pass(saw: string, more: More = {}): Judgement {
  return judgement('pass', saw, undefined, more);
}

/** The rule is broken, and clients stop because of it. @param fix what to change */
export function fail(saw: string, fix: string, more: More = {}): Judgement {
  return judgement('fail', saw, fix, more);
}

/** Some clients stop, or something works less well than it could. @param fix what to change */
export function warn(saw: string, fix: string, more: More = {}): Judgement {
  return judgement('warn', saw, fix, more);
}

/** The rule is about something this server does not have. */
export function skip(saw: string, more: More = {}): Judgement {
  return judgement('skip', saw, undefined, more);
}

/** Nobody can tell from here. */
export function unknown(saw: string, more: More = {}): Judgement {
  return judgement('unknown', saw, undefined, more);
}
