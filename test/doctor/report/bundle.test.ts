import { expect, it } from 'vitest';
import { toBundle } from '../../../src/doctor/report/bundle.ts';
import { finding, reportOf } from './sample.ts';

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
