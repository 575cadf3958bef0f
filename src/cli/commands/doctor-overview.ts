import type { Finding, Verdict } from '../../doctor/finding.ts';
import { countVerdicts } from '../../doctor/report/outcome.ts';
import { headings, mark, symbol, type TextLook, wrapped } from './doctor-look.ts';

/** The worst first: a section looks like the worst of its checks. */
const byWeight: readonly Verdict[] = ['fail', 'warn', 'unknown', 'pass', 'skip'];

/** Words for how many checks came to a verdict. */
export function describeCounts(findings: readonly Finding[]): string {
  const counts = countVerdicts(findings);
  const words: Readonly<Record<Verdict, string>> = {
    fail: 'failed',
    warn: counts.warn === 1 ? 'warning' : 'warnings',
    unknown: 'unknown',
    pass: 'passed',
    skip: 'skipped',
  };
  return byWeight
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => `${counts[verdict]} ${words[verdict]}`)
    .join(', ');
}

/**
 * Writes a line for each section, and one for each check of which nobody can tell: the short form of a long report.
 * @param findings of one report
 * @param look of this output
 */
export function formatOverview(findings: readonly Finding[], look: TextLook): string {
  const sections = [...new Set(findings.map(({ section }) => section))];
  const nameWidth = Math.max(...sections.map((section) => (headings[section] ?? section).length));
  const lines = sections.map((section) => {
    const ofSection = findings.filter((finding) => finding.section === section);
    const worst = byWeight.find((one) => ofSection.some(({ verdict }) => verdict === one)) ?? 'skip';
    const name = (headings[section] ?? section).padEnd(nameWidth);
    return `${symbol(worst, look)} ${name}  ${describeCounts(ofSection)}`;
  });
  const open = findings.filter(({ verdict }) => verdict === 'unknown');
  const idWidth = Math.max(0, ...open.map(({ id }) => id.length));
  const openLines = open.map(
    ({ id, saw }) =>
      `${mark('unknown', look)} ${id.padEnd(idWidth)} ${wrapped(saw, 11 + idWidth, look.width)}`,
  );
  return [
    look.paint('bold', 'All checks'),
    ...lines,
    '',
    ...(open.length === 0 ? [] : [...openLines, '']),
  ].join('\n');
}
