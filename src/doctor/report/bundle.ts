import { type Exchange, toCurl } from '../../client/index.ts';
import type { Report } from '../examine.ts';
import { type JsonReport, toJsonReport } from './json-report.ts';
import type { Threshold } from './outcome.ts';
import type { VerifyMeans } from './verify-command.ts';

/** Everything a bug report needs, without secrets: what was found, and each exchange with the command that repeats it. */
export interface Bundle extends Omit<JsonReport, 'exchanges'> {
  kind: 'gatehouse-doctor-bundle';
  /** Environment of this program. */
  environment: { node: string; platform: string };
  exchanges: readonly (Exchange & { curl: string })[];
}

/**
 * Writes a report with its exchanges as one object. They were recorded without secrets (T-191).
 * @param report what was found
 * @param options version of this program, what counts as a fault, how to look again, and what it ran on
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
