// With its thread, src/gateway/steps/argument-thread.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ArgumentChecks } from '../../../src/gateway/steps/argument-checks.ts';
import { patience } from '../../support/patience.ts';

function start(): ArgumentChecks {
  const checks = new ArgumentChecks();
  onTestFinished(() => checks.close());
  return checks;
}

const text = { type: 'object', properties: { text: { type: 'string' } } };

/** A schema that takes 2^30 steps. */
function explosive(): object {
  const $defs: Record<string, object> = { d0: { type: 'object' } };
  for (let depth = 1; depth <= 30; depth++)
    $defs[`d${depth}`] = { allOf: [{ $ref: `#/$defs/d${depth - 1}` }, { $ref: `#/$defs/d${depth - 1}` }] };
  return { $defs, $ref: '#/$defs/d30' };
}

describe('the checking of arguments', () => {
  it('says what does not fit', async () => {
    const checks = start();
    expect(await checks.check('ann', text, { text: 'a' })).toEqual({ problem: undefined });
    expect(await checks.check('ann', text, { text: 1 })).toEqual({
      problem: expect.stringContaining('text'),
    });
  });

  it.each([
    [
      'a regular expression made to take long',
      { properties: { text: { pattern: '^(a+)+$' } } },
      { text: `${'a'.repeat(40)}!` },
    ],
    ['a schema made to take long', explosive(), {}],
  ])(
    'of %s ends in time, holds nothing up meanwhile, and others go on (T-147)',
    async (_what, schema, value) => {
      const checks = start();
      await checks.check('ann', text, {});
      let ticks = 0;
      const ticking = setInterval(() => ticks++, 10);
      const startedMs = performance.now();
      const hanging = checks.check('ann', schema, value);
      const other = checks.check('bob', text, { text: 'a' });
      expect(await hanging).toEqual({ unchecked: 'too_long' });
      expect(performance.now() - startedMs).toBeLessThan(patience(5000));
      expect(ticks).toBeGreaterThan(5);
      expect(await other).toEqual({ problem: undefined });
      clearInterval(ticking);
    },
  );

  it('of a schema without an end, or of none of ours, is none', async () => {
    const checks = start();
    expect(await checks.check('ann', { $ref: '#' }, {})).toHaveProperty('unchecked');
    expect(await checks.check('ann', { $schema: 'urn:mine' }, {})).toEqual({ unchecked: 'unusable' });
    expect(await checks.check('ann', { x: () => undefined }, {})).toEqual({ unchecked: 'unusable' });
    expect(await checks.check('ann', text, { text: 'a' })).toEqual({ problem: undefined });
  });

  it('of one account, made to take long, delays another account by one check and not by eight (FA-06, T-206)', async () => {
    const checks = start();
    await checks.check('ann', text, {});
    const done: string[] = [];
    const hanging = Array.from({ length: 8 }, () =>
      checks.check('ann', explosive(), {}).then(() => done.push('ann')),
    );
    const other = checks.check('bob', text, {}).then(() => done.push('bob'));
    await other;
    expect(done).toEqual(['ann', 'bob']);
    checks.close();
    await Promise.all(hanging);
  });

  it('waits for no more than eight of an account', async () => {
    const checks = start();
    const all = Array.from({ length: 20 }, () => checks.check('ann', text, {}));
    const bob = checks.check('bob', text, {});
    const outcomes = await Promise.all(all);
    expect(outcomes.filter((one) => 'unchecked' in one)).toHaveLength(11);
    expect(await bob).toEqual({ problem: undefined });
  });

  it('leaves nobody waiting when it is closed', async () => {
    const checks = start();
    const waiting = [checks.check('ann', explosive(), {}), checks.check('ann', text, {})];
    await pause(10);
    checks.close();
    expect(await Promise.all(waiting)).toEqual([{ unchecked: 'too_many' }, { unchecked: 'too_many' }]);
  });
});
