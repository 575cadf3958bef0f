import type { Check, Finding } from '../../../src/doctor/check.ts';
import { examine, type Report } from '../../../src/doctor/examine.ts';
import type { LoginMeans } from '../../../src/doctor/subject.ts';

/**
 * Examines a server as `gatehouse doctor` does, with short waits: too short for a program that is begun for the question.
 * @param url URL of the MCP server
 * @param checks in their order
 */
export async function examined(
  url: string,
  checks: readonly Check[],
  options: {
    active?: boolean;
    only?: readonly string[];
    fetch?: typeof fetch;
    login?: LoginMeans;
    timeoutMs?: number;
  } = {},
): Promise<Report & { finding(id: string): Finding; bad(): string[] }> {
  const report = await examine({
    url,
    fetch: globalThis.fetch,
    now: () => Math.floor(Date.now() / 1000),
    timeoutMs: 2000,
    checks,
    ...options,
  });
  return {
    ...report,
    finding(id) {
      const found = report.findings.find((finding) => finding.id === id);
      if (!found) throw new Error(`no finding ${id}`);
      return found;
    },
    bad: () =>
      report.findings
        .filter(({ verdict }) => ['fail', 'warn'].includes(verdict))
        .map(({ id, verdict }) => `${verdict} ${id}`),
  };
}
