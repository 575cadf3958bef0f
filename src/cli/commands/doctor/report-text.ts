import {
  type Cause,
  type Check,
  countVerdicts,
  type Finding,
  findCauses,
  type Report,
  type Verdict,
  verifyCommand,
} from '../../../doctor/index.ts';
import { type CommandIo, createPaint, formatJson, printable } from '../../output.ts';
import { formatFittedTable } from '../../table.ts';
import { headings, mark, symbol, type TextLook, wrapped } from './report-style.ts';

/** Reports with more checks are shown by section, unless with `--verbose`. */
const mostListed = 20;

/** One sentence of counts: `57 checks: 1 failed, 50 passed`. */
export function summarize({ findings }: Pick<Report, 'findings'>): string {
  return `${findings.length} ${findings.length === 1 ? 'check' : 'checks'}: ${describeCounts(findings)}`;
}

const isOfLogin = ({ section }: Finding): boolean => section === 'login';

/** Returns a hint about options that show more; empty if nothing was left out. */
function describeMore({ findings, active }: Report, isShort: boolean): string {
  const more = [
    ...(isShort ? ['--verbose lists every check.'] : []),
    ...(!active && findings.some(isOfLogin) && !findings.some(({ verdict }) => verdict === 'fail')
      ? ['--active also registers and logs in.']
      : []),
  ];
  return more.join(' ');
}

/**
 * Formats a report for a person: what to fix first, then the checks, then a summary. Texts of servers are made safe for a
 * terminal (T-190).
 * @param report what was found
 * @param look of this output
 */
export function formatReport(report: Report, look: TextLook): string {
  const { findings } = report;
  const causes = findCauses(findings);
  const isShort = findings.length > mostListed && !look.isVerbose;
  const more = describeMore(report, isShort);
  return [
    ...(causes.length === 0 ? [] : [look.paint('bold', 'To fix'), '']),
    ...causes.map((cause) => formatCause(cause, report, look)),
    isShort ? formatOverview(findings, look) : formatListing(findings, look),
    look.paint('bold', summarize(report)),
    ...(more === '' ? [] : [look.paint('dim', more)]),
    '',
  ].join('\n');
}

const detailIndent = 12;

function detail(name: string, text: string, { paint, width }: TextLook): string {
  return `  ${paint('dim', name.padEnd(detailIndent - 2))}${wrapped(text, detailIndent, width)}`;
}

/** Lines are commands or configuration: they are not broken. */
function verbatim(name: string, text: string, { paint }: TextLook): string {
  const lines = printable(text).split('\n');
  return `  ${paint('dim', name.padEnd(detailIndent - 3))} ${lines.join(`\n${' '.repeat(detailIndent)}`)}`;
}

/** Summarizes the HTTP exchanges that show a finding. */
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

/** Maximum number of findings listed under their cause. */
const maxExplained = 5;

function describeExplained(ids: readonly string[]): string {
  const more = ids.length - maxExplained;
  return `${ids.slice(0, maxExplained).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Formats a cause: what was seen, the rule, the fix, what it explains, and how to verify the fix.
 * @param cause the finding, and what it explains
 * @param report it is of
 * @param look of this output
 */
export function formatCause({ finding, explains }: Cause, report: Report, look: TextLook): string {
  const { paint, width } = look;
  const { id, title, verdict, saw, clause, fix, hints = [] } = finding;
  const evidence = describeEvidence(finding, report);
  return [
    `${mark(verdict, look)} ${paint('bold', id)}  ${wrapped(title, 12 + id.length, width)}`,
    detail('Saw', saw, look),
    ...(clause === 'operational' ? [] : [detail('Rule', clause, look)]),
    ...(fix === undefined ? [] : [detail('Fix', fix, look)]),
    ...hints.map(({ product, lines }) => verbatim(product, lines, look)),
    ...(explains.length === 0 ? [] : [detail('Explains', describeExplained(explains), look)]),
    ...(evidence === '' ? [] : [detail('Evidence', evidence, look)]),
    verbatim('Verify', verifyCommand(finding, report.url, look.verify ?? report), look),
    '',
  ].join('\n');
}

/** A line of the listing: one finding, or all that are skipped for the same reason. */
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

/**
 * Formats every check under its section, one on a line; checks skipped for the same reason share a line.
 * @param findings of one report
 * @param look of this output
 */
export function formatListing(findings: readonly Finding[], look: TextLook): string {
  const idWidth = Math.max(0, ...findings.map(({ id }) => id.length));
  return [...new Set(findings.map(({ section }) => section))]
    .map((section) => {
      const lines = linesOf(
        findings.filter((finding) => finding.section === section),
        look.isVerbose,
      );
      return [
        look.paint('bold', headings[section] ?? section),
        ...lines.map((line) => formatLine(line, idWidth, look)),
        '',
      ].join('\n');
    })
    .join('\n');
}

/** Worst first: a section shows the worst of its checks. */
const byWeight: readonly Verdict[] = ['fail', 'warn', 'unknown', 'pass', 'skip'];

/** Counts the checks of each verdict, in words. */
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
 * Formats the short form of a long report: one line for each section, and one for each undecided check.
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

/** Width of a terminal that does not report its width. */
const defaultWidth = 100;

/** Options that the checks of a section need. */
const neededOptions: Partial<Record<Check['section'], string>> = { proxy: '--proxy', clients: '--as' };

/**
 * Formats all checks with rule, clause and required option: a table, or one JSON object.
 * @param checks in their order
 * @param options `json`
 * @param io the surroundings, for width and colours
 */
export function formatCheckList(
  checks: readonly Check[],
  options: { json?: boolean },
  io: CommandIo,
): string {
  const rows = checks.map(({ id, section, title, clause, active }) => ({
    id,
    section,
    title,
    clause,
    active: active ?? false,
  }));
  if (options.json) return formatJson({ schema: 1, checks: rows });
  return formatFittedTable(
    ['ID', 'RULE', 'CLAUSE', 'NEEDS'],
    rows.map(({ id, title, clause, section, active }) => [
      id,
      title,
      clause,
      active ? '--active' : (neededOptions[section] ?? ''),
    ]),
    {
      width: io.stdout.isTTY ? (io.stdout.columns ?? defaultWidth) : undefined,
      paint: createPaint(io.stdout, io.env),
    },
  );
}
