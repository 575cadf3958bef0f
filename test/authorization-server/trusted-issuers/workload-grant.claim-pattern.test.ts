import { describe, expect, it } from 'vitest';
import { fitsClaims, fitsPattern } from '../../../src/authorization-server/trusted-issuers/workload-grant.ts';
import { patience } from '../../support/patience.ts';

describe('a claim pattern', () => {
  it.each([
    ['repo:a/b', 'repo:a/b', true],
    ['repo:a/b', 'repo:a/b2', false],
    ['repo:a/b', 'Repo:a/b', false],
    ['repo:a/*', 'repo:a/', true],
    ['repo:a/*', 'xrepo:a/b', false],
    ['*:main', 'repo:main', true],
    ['*:main', 'repo:main2', false],
    ['a*b*c', 'a--b--c', true],
    ['a*b*c', 'ac', false],
    ['ab*bc', 'abc', false],
    ['a.c', 'abc', false],
    ['true', true, true],
    ['7', 7, true],
    ['7', [7], false],
    ['9007199254740992', JSON.parse('9007199254740993'), false],
    ['1*', 1.5, false],
    ['a', ['a'], false],
    ['null', null, false],
    ['*', undefined, false],
    ['*', {}, false],
  ])('%j against %j: %j (A13-10, FA-15, T-215)', (pattern, claim, fits) => {
    expect(fitsPattern(pattern, claim)).toBe(fits);
  });

  it('takes no time to speak of, whatever it is put against', () => {
    const started = performance.now();
    expect(fitsPattern(`${'*a'.repeat(200)}*b`, 'a'.repeat(16_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(patience(1_000));
  });

  it('has to fit for every claim that is named, among those of the token itself', () => {
    expect(fitsClaims({ sub: 'a', env: 'b*' }, { sub: 'a', env: 'bc', more: 1 })).toBe(true);
    expect(fitsClaims({ sub: 'a', env: 'b*' }, { sub: 'a' })).toBe(false);
    expect(fitsClaims({ constructor: '*' }, {})).toBe(false);
  });
});
