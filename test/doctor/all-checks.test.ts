import { describe, expect, it } from 'vitest';
import { allChecks } from '../../src/doctor/all-checks.ts';
import { thisMachine } from '../../src/doctor/machine/machine.ts';

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
