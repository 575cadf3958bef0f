import type { Judgement } from './finding.ts';
import type { Subject } from './subject.ts';

/** Section of the report. */
export type Section =
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
