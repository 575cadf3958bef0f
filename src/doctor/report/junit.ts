import type { Finding } from '../check.ts';
import type { Report } from '../examine.ts';
import { outcomeOf, type Threshold } from './outcome.ts';

/** Characters that XML 1.0 cannot hold, not even escaped (its section 2.2). */
const notInXml = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function xml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    '\n': '&#10;',
  };
  return text.replace(notInXml, '').replace(/[&<>"\n]/g, (character) => entities[character] ?? character);
}

/** Outcome of a finding in a test report. */
function kindOf(finding: Finding, threshold: Threshold): 'passed' | 'failure' | 'error' | 'skipped' {
  if (outcomeOf({ findings: [finding], stopped: false }, threshold) !== 'sound')
    return finding.verdict === 'unknown' ? 'error' : 'failure';
  return finding.verdict === 'skip' || finding.verdict === 'unknown' ? 'skipped' : 'passed';
}

function testCase(finding: Finding, threshold: Threshold): string {
  const { id, section, title, clause, verdict, saw, fix, because } = finding;
  const kind = kindOf(finding, threshold);
  const message = xml(`${verdict}: ${saw}`);
  const details = xml(
    [
      saw,
      `Rule: ${clause}`,
      ...(fix ? [`Fix: ${fix}`] : []),
      ...(because ? [`Because of ${because}`] : []),
    ].join('\n'),
  );
  const inner =
    kind === 'passed'
      ? verdict === 'warn'
        ? `<system-out>${message}</system-out>`
        : ''
      : kind === 'skipped'
        ? `<skipped message="${message}"/>`
        : `<${kind} type="${id}" message="${message}">${details}</${kind}>`;
  return `    <testcase classname="doctor.${section}" name="${xml(`${id}: ${title}`)}">${inner}</testcase>`;
}

/**
 * Converts a report to JUnit XML, with a test suite for each section.
 * @param threshold the lowest verdict that is a failure; others pass with their sentence as output, or are skipped
 */
export function toJunit(report: Report, threshold: Threshold): string {
  const sections = [...new Set(report.findings.map(({ section }) => section))];
  const suites = sections.map((section) => {
    const findings = report.findings.filter((finding) => finding.section === section);
    const count = (kind: string): number =>
      findings.filter((finding) => kindOf(finding, threshold) === kind).length;
    return [
      `  <testsuite name="${section}" tests="${findings.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}" hostname="${xml(URL.parse(report.url)?.host ?? '')}">`,
      ...findings.map((finding) => testCase(finding, threshold)),
      '  </testsuite>',
    ].join('\n');
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gatehouse doctor">\n${suites.join('\n')}\n</testsuites>\n`;
}
