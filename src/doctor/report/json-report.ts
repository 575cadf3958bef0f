import type { Exchange } from '../../client/index.ts';
import type { Report } from '../examine.ts';
import type { Finding, Verdict } from '../finding.ts';
import { countVerdicts, type Outcome, outcomeOf, type Threshold } from './outcome.ts';
import { type VerifyMeans, verifyCommand } from './verify-command.ts';

/** A report for programs. Members may be added; none changes its meaning while `schema` stays. */
export interface JsonReport {
  schema: 1;
  tool: { name: 'gatehouse'; version: string };
  url: string;
  /** RFC 3339, UTC. */
  startedAt: string;
  active: boolean;
  /** By the threshold of this run. */
  outcome: Outcome;
  threshold: Threshold;
  summary: Readonly<Record<Verdict, number>>;
  findings: readonly (Finding & { verify?: string })[];
  /** Exchanges in short form; `evidence` has their numbers. A bundle has them in full. */
  exchanges: readonly {
    number: number;
    method: string;
    url: string;
    status?: number;
    failure?: string;
    durationMs: number;
  }[];
}

function brief({
  number,
  request,
  response,
  failure,
  durationMs,
}: Exchange): JsonReport['exchanges'][number] {
  return {
    number,
    method: request.method,
    url: request.url,
    ...(response === undefined ? {} : { status: response.status }),
    ...(failure === undefined ? {} : { failure }),
    durationMs: Math.round(durationMs),
  };
}

/**
 * Writes a report as an object for programs.
 * @param report what was found
 * @param options version of this program, what counts as a fault, and how to look again
 */
export function toJsonReport(
  report: Report,
  options: { version: string; threshold: Threshold; verify?: VerifyMeans },
): JsonReport {
  const { url, startedAt, active, findings, exchanges } = report;
  return {
    schema: 1,
    tool: { name: 'gatehouse', version: options.version },
    url,
    startedAt: new Date(startedAt * 1000).toISOString(),
    active,
    outcome: outcomeOf(report, options.threshold),
    threshold: options.threshold,
    summary: countVerdicts(findings),
    findings: findings.map((finding) =>
      finding.verdict === 'fail' || finding.verdict === 'warn'
        ? { ...finding, verify: verifyCommand(finding, url, options.verify ?? report) }
        : finding,
    ),
    exchanges: exchanges.map(brief),
  };
}
