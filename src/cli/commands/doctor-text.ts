import type { Report } from '../../doctor/examine.ts';
import type { Finding, Verdict } from '../../doctor/finding.ts';
import { type Cause, countVerdicts, findCauses } from '../../doctor/report/outcome.ts';
import { verifyCommand } from '../../doctor/report/verify-command.ts';
import type { Paint, Style } from '../colour.ts';
import { printable, printableLine } from '../output.ts';
import { widthOf } from '../table.ts';

/** How a report looks on this output. */
export interface TextLook {
  paint: Paint;
  /** Columns; longer lines are broken between words. */
  width: number;
  /** Whether what was seen is said of every check. */
  isVerbose?: boolean | undefined;
}

/** A symbol and a word for each verdict, so that neither colour nor symbol has to be known. */
const marks: Readonly<Record<Verdict, { symbol: string; style: Style }>> = {
  pass: { symbol: '✓', style: 'green' },
  fail: { symbol: '✗', style: 'red' },
  warn: { symbol: '!', style: 'yellow' },
  skip: { symbol: '·', style: 'dim' },
  unknown: { symbol: '?', style: 'cyan' },
};

const headings: Readonly<Record<string, string>> = {
  reach: 'Reach and challenge',
  resource: 'Protected resource metadata',
  issuer: 'Authorization server',
  registration: 'Registration',
  login: 'Login',
  token: 'Tokens',
  machine: 'This machine',
  proxy: 'What stands in front',
  clients: 'Known clients',
};

/** A text that was made fit for the terminal, broken into lines that begin at a column. */
function wrapped(text: string, indent: number, width: number): string {
  const room = Math.max(24, width - indent);
  const lines: string[] = [];
  for (const word of printableLine(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= room)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}

function mark(verdict: Verdict, { paint }: TextLook): string {
  const { symbol, style } = marks[verdict];
  return paint(style, `${symbol} ${verdict.padEnd(7)}`);
}

const detailIndent = 12;

function detail(name: string, text: string, { paint, width }: TextLook): string {
  return `  ${paint('dim', name.padEnd(detailIndent - 2))}${wrapped(text, detailIndent, width)}`;
}

/** Lines are commands or configuration: they are not broken. */
function verbatim(name: string, text: string, { paint }: TextLook): string {
  const lines = printable(text).split('\n');
  return `  ${paint('dim', name.padEnd(detailIndent - 2))}${lines.join(`\n${' '.repeat(detailIndent)}`)}`;
}

/** The exchanges that show a finding, in short. */
function describeEvidence({ evidence = [] }: Finding, { exchanges }: Report): string {
  const shown = evidence.slice(0, 3).flatMap((number) => {
    const exchange = exchanges[number - 1];
    if (!exchange) return [];
    const { request, response } = exchange;
    return [`#${number} ${request.method} ${request.url} → ${response?.status ?? 'no answer'}`];
  });
  const more = evidence.length - shown.length;
  return `${shown.join('; ')}${more > 0 ? `; ${more} more` : ''}`;
}

/** Most findings that are named under what explains them. */
const maxExplained = 5;

function describeExplained(ids: readonly string[]): string {
  const more = ids.length - maxExplained;
  return `${ids.slice(0, maxExplained).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function formatCause({ finding, explains }: Cause, report: Report, look: TextLook): string {
  const { paint, width } = look;
  const { id, title, verdict, saw, clause, fix, hints = [] } = finding;
  const evidence = describeEvidence(finding, report);
  return [
    `${mark(verdict, look)} ${paint('bold', id)}  ${wrapped(title, 12 + id.length, width)}`,
    detail('Saw', saw, look),
    detail('Rule', clause, look),
    ...(fix === undefined ? [] : [detail('Fix', fix, look)]),
    ...hints.map(({ product, lines }) => verbatim(product, lines, look)),
    ...(explains.length === 0 ? [] : [detail('Explains', describeExplained(explains), look)]),
    ...(evidence === '' ? [] : [detail('Evidence', evidence, look)]),
    verbatim('Verify', verifyCommand(finding, report.url, report), look),
    '',
  ].join('\n');
}

/** Findings of a section in lines: one each, but one for all that are skipped for the same reason. */
interface Line {
  verdict: Verdict;
  ids: readonly string[];
  text: string;
}

function linesOf(findings: readonly Finding[], isVerbose: boolean | undefined): readonly Line[] {
  const lines: Line[] = [];
  for (const { id, section, title, verdict, saw, because } of findings) {
    const reason = because === undefined ? saw : `Because of ${because}.`;
    if (section === 'clients') {
      lines.push({ verdict, ids: [id], text: saw });
      continue;
    }
    if (verdict !== 'skip') {
      lines.push({
        verdict,
        ids: [id],
        text: verdict === 'unknown' || isVerbose ? `${title}: ${reason}` : title,
      });
      continue;
    }
    const same = lines.find((line) => line.verdict === 'skip' && line.text === reason);
    if (same) lines[lines.indexOf(same)] = { ...same, ids: [...same.ids, id] };
    else lines.push({ verdict, ids: [id], text: reason });
  }
  return lines;
}

function formatLine({ verdict, ids, text }: Line, idWidth: number, look: TextLook): string {
  const name = ids.length === 1 ? (ids[0] ?? '') : `${ids.length} checks`;
  const named = ids.length > 1 && look.isVerbose ? `${text} (${ids.join(', ')})` : text;
  const shown = wrapped(named, 11 + idWidth, look.width);
  return `${mark(verdict, look)} ${name.padEnd(idWidth)} ${verdict === 'skip' ? look.paint('dim', shown) : shown}`;
}

/** One sentence of counts: `57 checks: 50 passed, 1 failed`. */
export function summarize({ findings }: Pick<Report, 'findings'>): string {
  const { pass, fail, warn, unknown, skip } = countVerdicts(findings);
  const parts = [
    [fail, 'failed'],
    [warn, warn === 1 ? 'warning' : 'warnings'],
    [unknown, 'unknown'],
    [pass, 'passed'],
    [skip, 'skipped'],
  ] as const;
  const named = parts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`);
  return `${findings.length} ${findings.length === 1 ? 'check' : 'checks'}: ${named.join(', ')}`;
}

/**
 * Writes a report for a person: what to mend first, then every check by section, then one line that sums up. Texts of
 * servers are stripped of what a terminal could act on (T-190).
 * @param report what was found
 * @param look of this output
 */
export function formatReport(report: Report, look: TextLook): string {
  const { findings } = report;
  const { paint } = look;
  const causes = findCauses(findings);
  const idWidth = Math.max(0, ...findings.map(({ id }) => id.length));
  const sections = [...new Set(findings.map(({ section }) => section))];
  return [
    ...(causes.length === 0 ? [] : [paint('bold', 'To mend'), '']),
    ...causes.map((cause) => formatCause(cause, report, look)),
    ...sections.flatMap((section) => [
      paint('bold', headings[section] ?? section),
      ...linesOf(
        findings.filter((finding) => finding.section === section),
        look.isVerbose,
      ).map((line) => formatLine(line, idWidth, look)),
      '',
    ]),
    paint('bold', summarize(report)),
    '',
  ].join('\n');
}
