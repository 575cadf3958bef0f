import type { Report } from '../../doctor/examine.ts';
import type { Finding } from '../../doctor/finding.ts';
import { findCauses } from '../../doctor/report/outcome.ts';
import { formatCause } from './doctor-causes.ts';
import { formatListing } from './doctor-listing.ts';
import type { TextLook } from './doctor-look.ts';
import { describeCounts, formatOverview } from './doctor-overview.ts';

/** Reports with more checks are shown by section, unless every check is wanted. */
const mostListed = 20;

/** One sentence of counts: `57 checks: 1 failed, 50 passed`. */
export function summarize({ findings }: Pick<Report, 'findings'>): string {
  return `${findings.length} ${findings.length === 1 ? 'check' : 'checks'}: ${describeCounts(findings)}`;
}

const isOfLogin = ({ section }: Finding): boolean => section === 'login';

/** What another run would tell; empty where nothing was left out. */
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
 * Writes a report for a person: what to mend first, then the checks, then one line that sums up. Texts of servers are
 * stripped of what a terminal could act on (T-190).
 * @param report what was found
 * @param look of this output
 */
export function formatReport(report: Report, look: TextLook): string {
  const { findings } = report;
  const causes = findCauses(findings);
  const isShort = findings.length > mostListed && !look.isVerbose;
  const more = describeMore(report, isShort);
  return [
    ...(causes.length === 0 ? [] : [look.paint('bold', 'To mend'), '']),
    ...causes.map((cause) => formatCause(cause, report, look)),
    isShort ? formatOverview(findings, look) : formatListing(findings, look),
    look.paint('bold', summarize(report)),
    ...(more === '' ? [] : [look.paint('dim', more)]),
    '',
  ].join('\n');
}
