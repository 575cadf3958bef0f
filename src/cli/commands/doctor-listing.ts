import type { Finding, Verdict } from '../../doctor/finding.ts';
import { headings, mark, type TextLook, wrapped } from './doctor-look.ts';

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

/**
 * Writes every check under its section, one a line; those that are skipped for one reason share it.
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
