import type { UpstreamReport } from '../../upstream/examination/examine-upstream.ts';
import { mark, type TextLook, wrapped } from './doctor-look.ts';

/** Where what was seen begins, behind the verdict. */
const idWidth = 15;

const sentences: Readonly<Record<UpstreamReport['outcome'], string>> = {
  sound: 'Nothing to mend was found. Whether a login goes well in the end, a login tells.',
  faults: 'There is something to mend.',
  not_examined: 'It could not be asked.',
};

/**
 * Writes what was found out about an upstream: a line a check, under it what to change.
 * @param report names of checks and sentences; of the upstream's own texts only names from its metadata
 * @param look of this output
 */
export function formatUpstreamReport(report: UpstreamReport, look: TextLook): string {
  const indent = 11 + idWidth;
  const lines = report.findings.flatMap(({ id, verdict, saw, fix }) => [
    `${mark(verdict, look)} ${id.padEnd(idWidth)} ${wrapped(saw, indent, look.width)}`,
    ...(fix === undefined ? [] : [`${' '.repeat(indent)}${wrapped(`-> ${fix}`, indent, look.width)}`]),
  ]);
  return [
    look.paint('bold', `Upstream ${report.upstream}`),
    `Callback URL to register there: ${report.callbackUrl}`,
    '',
    ...lines,
    '',
    sentences[report.outcome],
    '',
  ].join('\n');
}
