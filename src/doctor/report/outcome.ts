import { shellWord } from '../../client/quote.ts';
import type { Finding, Verdict } from '../check.ts';
import type { Report } from '../examine.ts';

/** Threshold at which an examination fails. */
export const thresholds = ['fail', 'warn', 'unknown'] as const;

/** The lowest verdict that is a failure: `warn` includes `fail`, `unknown` includes both. */
export type Threshold = (typeof thresholds)[number];

/** Overall outcome of an examination. */
export type Outcome = 'sound' | 'faults' | 'not_examined';

/** Checks without which the others see nothing. */
const reaching = new Set([
  'REACH-URL',
  'REACH-DNS',
  'REACH-TCP',
  'REACH-TLS',
  'REACH-TLS-VERSION',
  'REACH-ANSWER',
]);

/**
 * Returns the overall outcome of an examination.
 * @param report the findings
 * @param threshold the lowest verdict that counts as a fault
 * @returns `not_examined` if the server was not reached, or the examination was stopped
 */
export function outcomeOf(
  { findings, stopped }: Pick<Report, 'findings' | 'stopped'>,
  threshold: Threshold,
): Outcome {
  if (stopped || findings.some(({ id, verdict }) => verdict === 'fail' && reaching.has(id)))
    return 'not_examined';
  const counted = thresholds.slice(0, thresholds.indexOf(threshold) + 1);
  return findings.some(({ verdict }) => counted.some((one) => one === verdict)) ? 'faults' : 'sound';
}

/** Returns the number of findings for each verdict. */
export function countVerdicts(findings: readonly Finding[]): Readonly<Record<Verdict, number>> {
  const counts: Record<Verdict, number> = { pass: 0, warn: 0, fail: 0, skip: 0, unknown: 0 };
  for (const { verdict } of findings) counts[verdict]++;
  return counts;
}

/** A finding that is not explained by another, and what it explains. */
export interface Cause {
  finding: Finding;
  /** Ids of findings that it explains. */
  explains: readonly string[];
}

/**
 * Sorts the faults so that their correction helps most: failures before warnings, and those that explain most first.
 * @param findings findings of one report
 */
export function findCauses(findings: readonly Finding[]): readonly Cause[] {
  const bad = findings.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  return bad
    .filter(({ because }) => because === undefined || !bad.some(({ id }) => id === because))
    .map((finding) => ({
      finding,
      explains: findings.filter(({ because }) => because === finding.id).map(({ id }) => id),
    }))
    .sort(
      (a, b) =>
        Number(b.finding.verdict === 'fail') - Number(a.finding.verdict === 'fail') ||
        b.explains.length - a.explains.length,
    );
}

/** Options of the run that a repetition of a check needs. */
export interface VerifyMeans {
  /** Name of the program as the user calls it; `gatehouse` by default. */
  program?: string | undefined;
  /** True if registrations and logins were allowed. */
  active: boolean;
  /** Returns the arguments for the checks of a section, for a repetition. */
  given?: ((section: string) => readonly string[]) | undefined;
}

/** Sections whose checks do not depend on a login. */
const withoutLogin = new Set(['reach', 'resource', 'issuer', 'machine']);

/**
 * Returns the command that repeats the check of a finding.
 * @param url examined URL
 * @param means options of the run
 */
export function verifyCommand(
  { id, section }: Pick<Finding, 'id' | 'section'>,
  url: string,
  { program = 'gatehouse', active, given = () => [] }: VerifyMeans,
): string {
  const flags = [
    ...(active && !withoutLogin.has(section) ? ['--active'] : []),
    ...(section === 'proxy' ? ['--proxy'] : []),
  ];
  return [program, 'doctor', '--only', id, ...flags, ...[...given(section), url].map(shellWord)].join(' ');
}
