import { describe, expect, it } from 'vitest';
import { countVerdicts, findCauses, outcomeOf } from '../../../src/doctor/report/outcome.ts';
import { finding, reportOf } from './sample.ts';

describe('the outcome of an examination', () => {
  it.each([
    ['pass', 'sound', 'sound', 'sound'],
    ['skip', 'sound', 'sound', 'sound'],
    ['unknown', 'sound', 'sound', 'faults'],
    ['warn', 'sound', 'faults', 'faults'],
    ['fail', 'faults', 'faults', 'faults'],
  ] as const)('with a %s is %s, %s or %s by the threshold', (verdict, ...outcomes) => {
    const report = reportOf(finding('A', 'pass'), finding('B', verdict));
    expect((['fail', 'warn', 'unknown'] as const).map((threshold) => outcomeOf(report, threshold))).toEqual(
      outcomes,
    );
  });

  it('is "not examined" where the server was not reached, or the examination stopped', () => {
    expect(outcomeOf(reportOf(finding('REACH-TCP', 'fail')), 'fail')).toBe('not_examined');
    expect(outcomeOf({ ...reportOf(finding('A', 'pass')), stopped: true }, 'fail')).toBe('not_examined');
    expect(outcomeOf(reportOf(finding('REACH-REDIRECT', 'fail')), 'fail')).toBe('faults');
  });
});

describe('the causes', () => {
  it('are what no other finding explains: failures first, those that explain most before', () => {
    const report = reportOf(
      finding('W', 'warn'),
      finding('A', 'fail'),
      finding('B', 'fail'),
      finding('C', 'skip', { because: 'B' }),
      finding('D', 'fail', { because: 'B' }),
      finding('E', 'pass'),
    );
    expect(findCauses(report.findings).map(({ finding: { id }, explains }) => [id, explains])).toEqual([
      ['B', ['C', 'D']],
      ['A', []],
      ['W', []],
    ]);
  });

  it('are never hidden by a cause that is not in the report', () => {
    const report = reportOf(finding('D', 'fail', { because: 'Z' }));
    expect(findCauses(report.findings).map(({ finding: { id } }) => id)).toEqual(['D']);
  });
});

it('verdicts are counted', () => {
  const { findings } = reportOf(finding('A', 'pass'), finding('B', 'pass'), finding('C', 'unknown'));
  expect(countVerdicts(findings)).toEqual({ pass: 2, warn: 0, fail: 0, skip: 0, unknown: 1 });
});
