import { describe, expect, it } from 'vitest';
import { Circuit } from '../../../src/gateway/steps/circuit.ts';

const limits = { failures: 3, windowMs: 1000, openMs: 500 };

function circuit(minAccounts = 1) {
  const clock = { ms: 0 };
  return { clock, made: new Circuit(limits, minAccounts, () => clock.ms) };
}

describe('a circuit', () => {
  it('opens by failures in a row, says how long to wait, and lets one call through after that (T-157)', () => {
    const { made, clock } = circuit();
    expect([made.failed('a'), made.failed('a'), made.enter()]).toEqual([false, false, 0]);
    expect(made.failed('a')).toBe(true);
    clock.ms = 100;
    expect([made.isOpen, made.enter()]).toEqual([true, 400]);
    clock.ms = 500;
    expect(made.enter()).toBe(0);
    expect(made.enter()).toBeGreaterThan(0);
    expect(made.succeeded()).toBe(true);
    expect([made.isOpen, made.enter(), made.isIdle]).toEqual([false, 0, true]);
  });

  it('stays open where the call that was let through fails, and lets another through where it came to no end', () => {
    const { made, clock } = circuit();
    for (let count = 0; count < 3; count++) made.failed('a');
    clock.ms = 500;
    made.enter();
    expect(made.failed('a')).toBe(false);
    expect(made.enter()).toBe(500);
    clock.ms = 1000;
    expect(made.enter()).toBe(0);
    made.gaveUp();
    expect(made.enter()).toBe(0);
  });

  it('lets another try where the one who tries takes long: nobody keeps it open by a call that does not end (T-158)', () => {
    const { made, clock } = circuit();
    for (let count = 0; count < 3; count++) made.failed('a');
    clock.ms = 500;
    expect(made.enter()).toBe(0);
    clock.ms = 999;
    expect(made.enter()).toBeGreaterThan(0);
    clock.ms = 1000;
    expect(made.enter()).toBe(0);
    expect(made.enter()).toBeGreaterThan(0);
  });

  it('counts failures in a row only, and only those of the window', () => {
    const { made, clock } = circuit();
    made.failed('a');
    made.failed('a');
    made.succeeded();
    expect(made.failed('a')).toBe(false);
    clock.ms = 900;
    made.failed('a');
    clock.ms = 1100;
    expect(made.failed('a')).toBe(false);
    expect(made.failed('a')).toBe(true);
  });

  it('of many opens by failures of several accounts, none of which has more than its share (T-158)', () => {
    const { made } = circuit(2);
    for (let count = 0; count < 20; count++) expect(made.failed('a')).toBe(false);
    expect(made.failed('b')).toBe(true);
    const { made: fair } = circuit(2);
    fair.failed('b');
    for (let count = 0; count < 20; count++) fair.failed('a');
    expect(fair.isOpen).toBe(true);
    const one = new Circuit({ ...limits, failures: 1 }, 2, () => 0);
    expect([one.failed('a'), one.isOpen]).toEqual([false, false]);
    const four = new Circuit({ ...limits, failures: 4 }, 2, () => 0);
    for (let count = 0; count < 20; count++) four.failed('a');
    expect([four.failed('b'), four.failed('b')]).toEqual([false, true]);
  });
});
