import { describe, expect, it } from 'vitest';
import { toBundle, toJsonReport } from '../../../src/doctor/report/json-report.ts';
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

describe('the bundle', () => {
  it('a bundle holds the report and each exchange whole, with the command that repeats it (T-191)', () => {
    const report = reportOf(finding('A', 'warn', { evidence: [1] }));
    const environment = { node: '24.0.0', platform: 'linux' };
    const bundle = toBundle(report, { version: '1.2.3', threshold: 'fail', environment });
    expect(bundle).toMatchObject({
      kind: 'gatehouse-doctor-bundle',
      schema: 1,
      environment,
      outcome: 'sound',
      findings: [{ id: 'A', verify: expect.any(String) }],
      exchanges: [{ ...report.exchanges[0], curl: expect.stringContaining('# Set first: ACCESS_TOKEN') }],
    });
  });
});
