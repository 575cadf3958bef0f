import { describe, expect, it } from 'vitest';
import {
  allChecks,
  issuerChecks,
  loginChecks,
  passiveChecks,
  reachChecks,
  registrationChecks,
  resourceChecks,
  tokenChecks,
} from '../../src/doctor/all-checks.ts';
import { thisMachine } from '../../src/doctor/machine/machine.ts';
import { examineActively } from './support/login.ts';

const checks = allChecks({ machine: thisMachine({}), proxy: {} });

describe('the checks', () => {
  it('have stable ids in capitals, each once', () => {
    const ids = checks.map(({ id }) => id);
    expect(ids.filter((id) => !/^[A-Z0-9]+(?:-[A-Z0-9]+)+$/.test(id))).toEqual([]);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it('say their rule and clause', () => {
    expect(checks.filter(({ title, clause }) => title === '' || clause === '').map(({ id }) => id)).toEqual(
      [],
    );
  });

  it('stand behind those they need, so that a cause is known before its symptoms', () => {
    const order = new Map(checks.map(({ id }, at) => [id, at]));
    const wrong = checks.flatMap(({ id, needs = [] }) =>
      needs
        .filter((need) => !((order.get(need) ?? Infinity) < (order.get(id) ?? 0)))
        .map((need) => `${id} needs ${need}`),
    );
    expect(wrong).toEqual([]);
  });

  it('leave out what stands in front unless it is asked for: that takes a minute', () => {
    const without = allChecks({ machine: thisMachine({}) });
    expect(without.some(({ section }) => section === 'proxy')).toBe(false);
    expect(checks.some(({ section }) => section === 'proxy')).toBe(true);
  });
});

describe('each section', () => {
  it.each([
    ['reach', reachChecks, reachChecks.length],
    ['resource', resourceChecks, resourceChecks.length],
    ['issuer', issuerChecks, issuerChecks.length],
    ['registration', registrationChecks, 2],
    ['login', loginChecks, 0],
    ['token', tokenChecks, 5],
  ])(
    '%s has its own checks, of which only those run without --active that write nothing',
    (section, own, passive) => {
      expect(own.filter((check) => check.section !== section)).toEqual([]);
      expect(own.filter(({ active }) => !active)).toHaveLength(passive);
    },
  );

  it('writes nothing at a server that is only looked at, and looks at successes last', () => {
    expect(passiveChecks.filter(({ active }) => active)).toEqual([]);
    expect(passiveChecks.at(-1)?.id).toBe('CHALLENGE-ON-SUCCESS');
  });
});

describe('the section "login"', () => {
  it('finds nothing wrong with a sound server, and passes what can be told', async () => {
    const report = await examineActively();
    expect(report.bad()).toEqual([]);
    const others = report.findings
      .filter(({ verdict }) => verdict !== 'pass')
      .map(({ id, verdict }) => `${verdict} ${id}`);
    expect(others).toEqual([
      'skip REG-ALIVE',
      'skip REG-CIMD-DOCUMENT',
      'skip REG-CLIENT-NAME',
      'skip REG-CIMD-ACCEPTED',
      'skip REG-CIMD-FETCHED',
      'skip TOKEN-SCOPE-CHALLENGE',
      'skip TOKEN-STEP-UP',
      'skip TOKEN-DPOP',
      'unknown TOKEN-OTHER-AUDIENCE',
    ]);
  });
});
