import { describe, expect, it } from 'vitest';
import { loginChecks } from '../../../src/doctor/login/login-checks.ts';
import { passiveChecks } from '../../../src/doctor/passive-checks.ts';
import { activeSections, examineActively } from '../support/login.ts';

describe('the section "login"', () => {
  it('has each check once, and all of them write at the server', () => {
    expect(new Set(loginChecks.map(({ id }) => id)).size).toBe(loginChecks.length);
    expect(loginChecks.every(({ section, active }) => section === 'login' && active === true)).toBe(true);
  });

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

  it('names only checks that stand before it as what it needs', () => {
    const seen = new Set(passiveChecks.map(({ id }) => id));
    for (const { id, needs = [] } of activeSections) {
      expect([id, needs.filter((need) => !seen.has(need))]).toEqual([id, []]);
      seen.add(id);
    }
  });
});
