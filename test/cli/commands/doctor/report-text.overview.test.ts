import { expect, it } from 'vitest';
import { describeCounts, formatOverview } from '../../../../src/cli/commands/doctor/report-text.ts';
import { finding } from '../../../doctor/report/sample.ts';

const look = { paint: (_style: string, text: string) => text, width: 100 };

it('the overview has a line for each section, marked as the worst of its checks', () => {
  const text = formatOverview(
    [
      finding('A', 'pass'),
      finding('B', 'warn'),
      finding('C', 'pass', { section: 'issuer' }),
      finding('D', 'skip', { section: 'login' }),
    ],
    look,
  );
  expect(text).toBe(
    [
      'All checks',
      '! Protected resource metadata  1 warning, 1 passed',
      '✓ Authorization server         1 passed',
      '· Login                        1 skipped',
      '',
    ].join('\n'),
  );
});

it('the overview does not hide what nobody can tell', () => {
  const text = formatOverview([finding('A', 'pass'), finding('B', 'unknown')], look);
  expect(text).toContain('? Protected resource metadata  1 unknown, 1 passed\n');
  expect(text).toContain('? unknown B what B saw\n');
});

it('counts name the worst first', () => {
  expect(describeCounts([finding('A', 'pass'), finding('B', 'fail'), finding('C', 'pass')])).toBe(
    '1 failed, 2 passed',
  );
});
