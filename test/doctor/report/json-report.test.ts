import { expect, it } from 'vitest';
import { toJsonReport } from '../../../src/doctor/report/json-report.ts';
import { finding, reportOf } from './sample.ts';

it('a report is one object with a schema, its findings, and the exchanges in short', () => {
  const report = reportOf(finding('A', 'pass', { evidence: [1] }), finding('B', 'fail', { evidence: [1] }));
  expect(toJsonReport(report, { version: '1.2.3', threshold: 'warn' })).toEqual({
    schema: 1,
    tool: { name: 'gatehouse', version: '1.2.3' },
    url: 'https://mcp.example.com/mcp',
    startedAt: '2027-01-15T08:00:00.000Z',
    active: false,
    outcome: 'faults',
    threshold: 'warn',
    summary: { pass: 1, warn: 0, fail: 1, skip: 0, unknown: 0 },
    findings: [
      report.findings[0],
      { ...report.findings[1], verify: 'gatehouse doctor --only B https://mcp.example.com/mcp' },
    ],
    exchanges: [
      { number: 1, method: 'POST', url: 'https://mcp.example.com/mcp', status: 401, durationMs: 12 },
    ],
  });
});
