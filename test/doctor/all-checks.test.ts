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
import { activeSections, examineActively } from './support/login.ts';

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

describe('a', () => {
  it('nothing is written at a server that is only looked at', () => {
    expect(passiveChecks.filter(({ active }) => active)).toEqual([]);
    expect(passiveChecks.at(-1)?.id).toBe('CHALLENGE-ON-SUCCESS');
  });
});

describe('issuer', () => {
  it('the section judges whose the metadata is before what it says', () => {
    const ids = issuerChecks.map(({ id }) => id);
    expect(ids.indexOf('AS-FOUND')).toBeLessThan(ids.indexOf('AS-PKCE'));
    expect(issuerChecks.every(({ section, active }) => section === 'issuer' && active === undefined)).toBe(
      true,
    );
  });
});

describe('resource', () => {
  it('the section judges where the document is before what it says', () => {
    const ids = resourceChecks.map(({ id }) => id);
    expect(ids.indexOf('PRM-FOUND')).toBeLessThan(ids.indexOf('PRM-RESOURCE'));
    expect(
      resourceChecks.every(({ section, active }) => section === 'resource' && active === undefined),
    ).toBe(true);
  });
});

describe('reach', () => {
  it('the section begins with the URL and ends with what pages may do', () => {
    const ids = reachChecks.map(({ id }) => id);
    expect(ids[0]).toBe('REACH-URL');
    expect(ids.at(-1)).toBe('CORS-CHALLENGE');
    expect(reachChecks.every(({ section, active }) => section === 'reach' && active === undefined)).toBe(
      true,
    );
  });
});

describe('registration', () => {
  it('the section has each check once, all of them marked that register or ask the authorization endpoint with a client', () => {
    const ids = registrationChecks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(registrationChecks.every(({ section }) => section === 'registration')).toBe(true);
    expect(registrationChecks.filter(({ active }) => !active).map(({ id }) => id)).toEqual([
      'REG-ALIVE',
      'REG-CIMD-DOCUMENT',
    ]);
  });
});

describe('token', () => {
  it('the section has each check once; those that only look at a token run without --active', () => {
    const ids = tokenChecks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(tokenChecks.every(({ section }) => section === 'token')).toBe(true);
    expect(tokenChecks.filter(({ active }) => active !== true).map(({ id }) => id)).toEqual([
      'TOKEN-CLAIMS',
      'TOKEN-AUDIENCE',
      'TOKEN-CLOCK',
      'TOKEN-ACCEPTED',
      'TOKEN-SESSION',
    ]);
  });
});

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
