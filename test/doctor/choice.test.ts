import { describe, expect, it } from 'vitest';
import type { Check } from '../../src/doctor/check.ts';
import { chooseChecks } from '../../src/doctor/choice.ts';

function check(id: string, ...needs: string[]): Check {
  return {
    id,
    section: 'reach',
    title: id,
    clause: '',
    needs,
    judge: async () => ({ verdict: 'pass', saw: '' }),
  };
}

const checks = [check('A'), check('B', 'A'), check('C', 'B'), check('D')];
const ids = (running: readonly Check[]): string => running.map(({ id }) => id).join('');

describe('the choice of checks', () => {
  it('is all of them unless told', () => {
    const { asked, running } = chooseChecks(checks, {});
    expect([...asked]).toEqual(['A', 'B', 'C', 'D']);
    expect(ids(running)).toBe('ABCD');
  });

  it('runs what the wanted ones need too, before them', () => {
    const { asked, running } = chooseChecks(checks, { only: ['C'] });
    expect([...asked]).toEqual(['C']);
    expect(ids(running)).toBe('ABC');
  });

  it('leaves out what is not wanted, even where another needs it', () => {
    const { asked, running } = chooseChecks(checks, { skip: ['B'] });
    expect([...asked]).toEqual(['A', 'C', 'D']);
    expect(ids(running)).toBe('ACD');
  });

  it('names the ids that do not exist', () => {
    expect(() => chooseChecks(checks, { only: ['A', 'X'], skip: ['Y'] })).toThrow('There is no check X, Y.');
  });
});
