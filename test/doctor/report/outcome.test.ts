import { describe, expect, it } from 'vitest';
import { countVerdicts, findCauses, outcomeOf, verifyCommand } from '../../../src/doctor/report/outcome.ts';
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

describe('the command that verifies', () => {
  it('the command looks at one finding again, with what its section needs', () => {
    const url = 'https://mcp.example.com/mcp';
    const command = (id: string, section: string, active = false) =>
      verifyCommand({ id, section }, url, { active });
    expect(command('PRM-RESOURCE', 'resource', true)).toBe(`gatehouse doctor --only PRM-RESOURCE ${url}`);
    expect(command('LOGIN-PKCE', 'login', true)).toBe(`gatehouse doctor --only LOGIN-PKCE --active ${url}`);
    expect(command('PROXY-IDLE', 'proxy')).toBe(`gatehouse doctor --only PROXY-IDLE --proxy ${url}`);
  });

  it('a URL is one word of the shell, whatever it holds (T-182)', () => {
    expect(verifyCommand({ id: 'A', section: 'reach' }, "https://a/?x=$(id)&y='", { active: false })).toBe(
      "gatehouse doctor --only A 'https://a/?x=$(id)&y='\\'''",
    );
  });

  it('the command has the program as the user calls it, and the options that the check was given', () => {
    const given = (section: string) => (section === 'machine' ? ['--callback-port', '8123'] : []);
    expect(
      verifyCommand({ id: 'MACHINE-CALLBACK-PORT', section: 'machine' }, 'https://a/mcp', {
        program: 'npx mcp-gatehouse',
        active: true,
        given,
      }),
    ).toBe('npx mcp-gatehouse doctor --only MACHINE-CALLBACK-PORT --callback-port 8123 https://a/mcp');
  });
});
