// With its thread, src/gateway/steps/argument-thread.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ArgumentChecks, createCheckedArguments } from '../../../src/gateway/steps/argument-checks.ts';
import { ToolDefinitions } from '../../../src/gateway/steps/tool-definitions.ts';
import { withMissingInput } from '../../../src/mcp/upstreams/upstream.ts';
import { patience } from '../../support/patience.ts';
import { stepped } from './support/stepped.ts';

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

describe('the step', () => {
  const tools = [
    {
      name: 'echo',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
    { name: 'odd', inputSchema: { $schema: 'urn:mine' } },
    { name: 'plain' },
    { name: 'hiding', inputSchema: { properties: { text: { enum: ['a\u200b\u001b[2Jb'] } } } },
  ];

  function start(list = (): object => ({ result: { tools } })) {
    const checks = new ArgumentChecks();
    onTestFinished(() => checks.close());
    const warned: unknown[] = [];
    const step = createCheckedArguments({
      name: 'Notes',
      definitions: new ToolDefinitions(() => 0),
      checks,
      logger: { warn: (fields: unknown) => void warned.push(fields) },
    });
    const { talk, server } = stepped([step], {
      'tools/list': list,
      'tools/call': () => ({ result: { content: [] } }),
    });
    return { talk, server, warned };
  }

  describe('the arguments of a call', () => {
    it('that do not fit are an error of the tool, which says what to correct; the server never sees them', async () => {
      const { talk, server } = start();
      const { ask } = await talk();
      const { result } = await ask('tools/call', { name: 'echo', arguments: { text: 5 } });
      expect(result).toEqual({
        content: [
          { type: 'text', text: expect.stringMatching(/fit the input schema of echo.*text.*Correct them/) },
        ],
        isError: true,
      });
      expect((await ask('tools/call', { name: 'echo' })).result?.isError).toBe(true);
      expect(server.requests('tools/call')).toHaveLength(0);
    });

    it('that do not fit bring the model no characters nobody sees from the schema (FA-08, T-211)', async () => {
      const { ask } = await start().talk();
      const { result } = await ask('tools/call', { name: 'hiding', arguments: { text: 'c' } });
      const text = String((result?.content as { text: string }[] | undefined)?.[0]?.text);
      expect(text).toContain('does not match any of');
      expect(text).not.toMatch(/\p{Cf}|\p{Cc}/u);
    });

    it('of a call whose person has still to give what the list needs are not passed on unchecked (C7-04)', async () => {
      const missing = { name: 'key', key: 'key', message: 'It needs a key.', url: 'https://example.com' };
      const refused = { code: -32603, message: 'a key is missing' };
      const error = withMissingInput(refused, { ...missing, isGiven: async () => false });
      const { talk, server } = start(() => ({ error }));
      expect((await (await talk()).ask('tools/call', { name: 'echo' })).error).toEqual(refused);
      expect(server.requests('tools/call')).toHaveLength(0);
    });

    it('that fit reach the server, as do those of tools without a schema and of tools it does not list', async () => {
      const { talk, server } = start();
      const { ask } = await talk();
      for (const name of ['echo', 'plain', 'unlisted'])
        expect((await ask('tools/call', { name, arguments: { text: 'a' } })).result).toEqual({ content: [] });
      expect(server.requests('tools/call')).toHaveLength(3);
    });

    it('that cannot be checked are refused, and the log says which tool', async () => {
      const { talk, server, warned } = start();
      const { error } = await (await talk()).ask('tools/call', { name: 'odd', arguments: {} });
      expect(error).toMatchObject({ code: -32603, data: { reason: 'arguments_not_checked' } });
      expect(warned).toEqual([{ backend: 'Notes', tool: 'odd', reason: 'unusable' }]);
      expect(server.requests('tools/call')).toHaveLength(0);
    });
  });
});
