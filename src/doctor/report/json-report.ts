import { type Exchange, toCurl } from '../../client/index.ts';
import type { Finding, Verdict } from '../check.ts';
import type { Report } from '../examine.ts';
import {
  countVerdicts,
  type Outcome,
  outcomeOf,
  type Threshold,
  type VerifyMeans,
  verifyCommand,
} from './outcome.ts';

/** A report for programs. Members may be added; none changes its meaning while `schema` stays. */
interface JsonReport {
  schema: 1;
  tool: { name: 'gatehouse'; version: string };
  url: string;
  /** RFC 3339, UTC. */
  startedAt: string;
  active: boolean;
  /** Depends on the threshold of this run. */
  outcome: Outcome;
  threshold: Threshold;
  summary: Readonly<Record<Verdict, number>>;
  findings: readonly (Finding & { verify?: string })[];
  /** Short forms of the exchanges; `evidence` has their numbers. A bundle has them completely. */
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
 * Converts a report for programs.
 * @param options version of this program, the threshold, and the command for a repetition
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

/** All data for a bug report, without secrets: the findings, and each exchange with the command that repeats it. */
interface Bundle extends Omit<JsonReport, 'exchanges'> {
  kind: 'gatehouse-doctor-bundle';
  /** Environment of this program. */
  environment: { node: string; platform: string };
  exchanges: readonly (Exchange & { curl: string })[];
}

/**
 * Converts a report with its exchanges, which were recorded without secrets (T-191).
 * @param options version and environment of this program, the threshold, and the command for a repetition
 */
export function toBundle(
  report: Report,
  options: {
    version: string;
    threshold: Threshold;
    verify?: VerifyMeans;
    environment: Bundle['environment'];
  },
): Bundle {
  return {
    kind: 'gatehouse-doctor-bundle',
    ...toJsonReport(report, options),
    environment: options.environment,
    exchanges: report.exchanges.map((exchange) => ({ ...exchange, curl: toCurl(exchange) })),
  };
}
