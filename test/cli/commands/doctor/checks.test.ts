import { describe, expect, it } from 'vitest';
import { checksOf, chosenIds, requireKnownIds } from '../../../../src/cli/commands/doctor/checks.ts';
import type { DoctorCommandOptions } from '../../../../src/cli/commands/doctor/options.ts';
import { testIo } from '../../support/client-commands.ts';

function sections(options: DoctorCommandOptions): Set<string> {
  return new Set(checksOf(options, testIo().io, () => undefined).map(({ section }) => section));
}

describe('the checks of a run', () => {
  it('look at the proxy and at known clients only where that is asked for', () => {
    expect(sections({}).has('proxy')).toBe(false);
    expect(sections({}).has('clients')).toBe(false);
    expect(sections({ proxy: true }).has('proxy')).toBe(true);
    expect(sections({ only: ['PROXY-IDLE'] }).has('proxy')).toBe(true);
    expect(sections({ as: ['cursor'] }).has('clients')).toBe(true);
    expect(sections({ list: true })).toEqual(
      new Set([
        'reach',
        'resource',
        'issuer',
        'clients',
        'machine',
        'registration',
        'login',
        'token',
        'proxy',
      ]),
    );
  });

  it('are those that are named; with known clients, theirs', () => {
    expect(chosenIds({})).toBeUndefined();
    expect(chosenIds({ as: ['cursor', 'sdk-v2'] })).toEqual(['CLIENT-CURSOR', 'CLIENT-SDK-V2']);
    expect(chosenIds({ as: ['cursor'], only: ['AS-PKCE'] })).toEqual(['AS-PKCE']);
    expect(() => chosenIds({ as: ['nobody'] })).toThrow('There is no client nobody');
  });

  it('exist', () => {
    const checks = checksOf({}, testIo().io, () => undefined);
    const running = requireKnownIds(checks, { only: ['PRM-LINK'], skip: undefined });
    expect(running.map(({ id }) => id)).toContain('REACH-URL');
    expect(() => requireKnownIds(checks, { only: undefined, skip: ['NO-SUCH'] })).toThrow(
      'There is no check NO-SUCH.',
    );
  });
});
