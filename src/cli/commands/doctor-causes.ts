import type { Report } from '../../doctor/examine.ts';
import type { Finding } from '../../doctor/finding.ts';
import type { Cause } from '../../doctor/report/outcome.ts';
import { verifyCommand } from '../../doctor/report/verify-command.ts';
import { printable } from '../output.ts';
import { mark, type TextLook, wrapped } from './doctor-look.ts';

const detailIndent = 12;

function detail(name: string, text: string, { paint, width }: TextLook): string {
  return `  ${paint('dim', name.padEnd(detailIndent - 2))}${wrapped(text, detailIndent, width)}`;
}

/** Lines are commands or configuration: they are not broken. */
function verbatim(name: string, text: string, { paint }: TextLook): string {
  const lines = printable(text).split('\n');
  return `  ${paint('dim', name.padEnd(detailIndent - 3))} ${lines.join(`\n${' '.repeat(detailIndent)}`)}`;
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

/**
 * Writes what is to be mended: what was seen, the rule, the fix, what it explains, and how to look again.
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
