import type { Judgement } from './finding.ts';
import type { Subject } from './subject.ts';

/** Where a check stands in the report. */
export type Section =
  | 'reach'
  | 'resource'
  | 'issuer'
  | 'registration'
  | 'login'
  | 'token'
  | 'machine'
  | 'proxy';

/** One question about a server. */
export interface Check {
  /** Stable, in capitals: `PRM-RESOURCE`. Scripts and bug reports name it. */
  id: string;
  section: Section;
  /** The rule as a sentence. */
  title: string;
  /** The standard's clause, with its document. */
  clause: string;
  /** Whether it registers, logs in or writes anything at the server: only with `--active`. */
  active?: true;
  /** Looks at the facts and judges. It gets them with `subject.fact`, so that checks share each exchange. */
  judge(subject: Subject): Promise<Judgement>;
}
