import { describe, expect, it } from 'vitest';
import { type CacheLimits, createCache, KeptAnswers } from '../../../src/gateway/steps/cache.ts';
import { SteppedRequest } from '../../../src/gateway/steps/chain.ts';
import type { Answer } from '../../../src/gateway/steps/step.ts';
import { accountKeyPrefix } from '../../../src/oauth/auth-info.ts';
import { callerNamed } from '../../mcp/sdk/support/talk.ts';

/** A cache before a server that a test answers for: how often it was asked, and what it said. */
function start(limits: Partial<CacheLimits> = {}) {
  const clock = { ms: 0 };
  const cache = createCache({ maxEntries: 100, maxBytes: 1_000_000, ...limits }, () => clock.ms);
  let asked = 0;
  let give: (subject: string) => Promise<Answer> | Answer = () => ({ result: {} });
  const ask = (
    subject: string,
    { method = 'tools/list', params = {}, era = 'modern' as 'modern' | 'legacy', tokenId = subject } = {},
  ) => {
    const caller = { ...callerNamed(subject), tokenId };
    const passing = new SteppedRequest({ caller, era, behind: {}, ask: () => expect.unreachable() });
    const answer = cache.answer({ jsonrpc: '2.0', id: 1, method, params }, passing, async () => {
      asked++;
      return give(subject);
    });
    return { answer, cancel: () => passing.cancel() };
  };
  return {
    cache,
    clock,
    ask,
    asked: () => asked,
    gives: (how: typeof give) => {
      give = how;
    },
    /** The result for somebody. */
    result: async (subject: string, options = {}) => (await ask(subject, options).answer).result,
  };
}

const good = (more: object) => ({ result: { resultType: 'complete', ttlMs: 1000, ...more } });

describe('answers of 2026-07-28', () => {
  it('are good for their ttlMs, and say how much of it is left (C6-07)', async () => {
    const { gives, result, clock, asked } = start();
    gives(() => good({ tools: [] }));
    await result('ann');
    clock.ms = 400;
    expect(await result('ann')).toEqual({ resultType: 'complete', ttlMs: 600, tools: [] });
    expect(asked()).toBe(1);
    clock.ms = 1000;
    await result('ann');
    expect(asked()).toBe(2);
  });

  it('are for the token they were given for, where they do not say that they are public (T-158, C6-08)', async () => {
    const { gives, result, asked } = start();
    gives((subject) => good({ whose: subject }));
    expect(await result('ann')).toMatchObject({ whose: 'ann' });
    expect(await result('bob')).toMatchObject({ whose: 'bob' });
    await result('ann', { tokenId: 'another' });
    gives((subject) => good({ whose: subject, cacheScope: 'private' }));
    await result('eve');
    expect(await result('dan')).toMatchObject({ whose: 'dan' });
    expect(asked()).toBe(5);
  });

  it('are for everybody where they say that they are public', async () => {
    const { gives, result, asked } = start();
    gives((subject) => good({ whose: subject, cacheScope: 'public' }));
    await result('ann');
    expect(await result('bob')).toMatchObject({ whose: 'ann' });
    expect(asked()).toBe(1);
  });

  it.each([
    ['without ttlMs', {}],
    ['with ttlMs 0', { ttlMs: 0 }],
    ['with a ttlMs that is none', { ttlMs: '1000' }],
    ['that ask for input', { ttlMs: 1000, resultType: 'input_required' }],
  ])('%s are not kept', async (_what, given) => {
    const { gives, result, asked } = start();
    gives(() => ({ result: given }));
    await result('ann');
    await result('ann');
    expect(asked()).toBe(2);
  });

  it('are for nobody else at a server that knows who calls, even if it says that they are public (T-158, C6-08)', async () => {
    const { gives, result, asked } = start({ isPersonal: true });
    gives((subject) => good({ whose: subject, cacheScope: 'public' }));
    for (const subject of ['ann', 'bob', 'ann', 'bob'])
      expect(await result(subject)).toMatchObject({ whose: subject });
    expect(asked()).toBe(2);
    const both = await Promise.all(['cy', 'di'].map((subject) => result(subject)));
    expect(both).toMatchObject([{ whose: 'cy' }, { whose: 'di' }]);
  });

  it('are kept by question: method and parameters, whatever stands in _meta; a call that goes on is none', async () => {
    const { gives, result, asked } = start();
    gives(() => good({}));
    const read = (uri: string, more = {}) =>
      result('ann', { method: 'resources/read', params: { uri, ...more } });
    await read('a:', { _meta: { progressToken: 1 } });
    await read('a:', { _meta: { progressToken: 2 } });
    expect(asked()).toBe(1);
    await read('b:');
    await result('ann', { params: { cursor: 'c' } });
    expect(asked()).toBe(3);
    for (let count = 0; count < 2; count++) await read('a:', { inputResponses: {} });
    expect(asked()).toBe(5);
  });

  it('are asked for once where many ask at once (single flight)', async () => {
    const { gives, ask, asked } = start();
    const { promise, resolve } = Promise.withResolvers<Answer>();
    gives(() => promise);
    const answers = Array.from({ length: 10 }, () => ask('ann').answer);
    resolve(good({ tools: [] }));
    expect(new Set((await Promise.all(answers)).map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(asked()).toBe(1);
  });

  it('of one person are not waited for by another before it is known that they are public', async () => {
    const { gives, ask, asked, clock } = start();
    gives((subject) => good({ whose: subject, cacheScope: 'public' }));
    await Promise.all([ask('ann').answer, ask('bob').answer]);
    expect(asked()).toBe(2);
    clock.ms = 2000;
    await Promise.all([ask('ann').answer, ask('bob').answer]);
    expect(asked()).toBe(3);
    // And where they are no longer: nobody gets what is another's.
    clock.ms = 4000;
    gives((subject) => good({ whose: subject, cacheScope: 'private' }));
    const [ann, bob] = await Promise.all([ask('ann').answer, ask('bob').answer]);
    expect([ann?.result?.whose, bob?.result?.whose]).toEqual(['ann', 'bob']);
  });

  it('that are cancelled by who asked first are asked for by the next who waits', async () => {
    const { gives, ask, asked } = start();
    const answers: PromiseWithResolvers<Answer>[] = [];
    gives(() => {
      const one = Promise.withResolvers<Answer>();
      answers.push(one);
      return one.promise;
    });
    const first = ask('ann');
    const waiting = [ask('ann').answer, ask('ann').answer];
    first.cancel();
    answers[0]?.resolve({ error: { code: -32800, message: 'cancelled' } });
    await first.answer;
    await new Promise((resolve) => setImmediate(resolve));
    answers[1]?.resolve(good({ tools: [] }));
    expect((await Promise.all(waiting)).map(({ result }) => result?.tools)).toEqual([[], []]);
    expect(asked()).toBe(2);
  });

  it.each([
    ['notifications/tools/list_changed', {}, ['tools/list']],
    ['notifications/prompts/list_changed', {}, ['prompts/list']],
    ['notifications/resources/list_changed', {}, ['resources/list', 'resources/templates/list']],
    ['notifications/resources/updated', { uri: 'a:' }, ['resources/read']],
    ['notifications/resources/updated', { uri: 'b:' }, []],
  ])('are old with %s %j', async (method, params, dropped) => {
    const { cache, gives, result, asked } = start();
    gives(() => good({ cacheScope: 'public' }));
    const methods = [
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
      'resources/read',
    ];
    const all = async () => {
      for (const one of methods)
        await result('ann', { method: one, params: one === 'resources/read' ? { uri: 'a:' } : {} });
    };
    await all();
    cache.hear?.({ jsonrpc: '2.0', method, params }, {});
    const before = asked();
    await all();
    expect(asked() - before).toBe(dropped.length);
  });

  it('that were on their way when they changed are not kept', async () => {
    const { cache, gives, ask, result, asked } = start();
    const { promise, resolve } = Promise.withResolvers<Answer>();
    gives(() => promise);
    const { answer } = ask('ann');
    cache.hear?.({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, {});
    resolve(good({}));
    await answer;
    await result('ann');
    expect(asked()).toBe(2);
  });

  it('of somebody whose credentials changed are not theirs any more; those of others stay (T-158)', async () => {
    const { cache, gives, result, asked } = start();
    gives((subject) => good({ whose: subject }));
    await result('ann');
    await result('bob');
    cache.forgetAccount(accountKeyPrefix(callerNamed('ann')));
    await result('ann');
    await result('bob');
    expect(asked()).toBe(3);
  });

  it('that are errors are not kept', async () => {
    const { gives, result, asked } = start();
    gives(() => ({ error: { code: -32603, message: 'x' } }));
    await result('ann');
    await result('ann');
    expect(asked()).toBe(2);
  });
});

describe('answers of older revisions', () => {
  it('are kept where the operator says how long: lists alone, for who asked, and without a word of it', async () => {
    const { gives, result, asked } = start({ listMs: 1000 });
    gives((subject) => ({ result: { whose: subject, ttlMs: undefined, cacheScope: 'public' } }));
    const era = 'legacy' as const;
    await result('ann', { era });
    expect(await result('ann', { era })).toMatchObject({ whose: 'ann' });
    expect(await result('bob', { era })).toMatchObject({ whose: 'bob' });
    expect(asked()).toBe(2);
    for (let count = 0; count < 2; count++) await result('ann', { era, method: 'resources/read' });
    expect(asked()).toBe(4);
  });

  it('are not kept where the operator says nothing', async () => {
    const { gives, result, asked } = start();
    gives(() => good({ cacheScope: 'public' }));
    for (let count = 0; count < 2; count++) await result('ann', { era: 'legacy' });
    expect(asked()).toBe(2);
  });
});

describe('kept answers', () => {
  const answer = (text: string, untilMs = 100) => ({ method: 'tools/list', result: { text }, untilMs });

  describe('answers that are kept', () => {
    it('are good until their time', () => {
      const kept = new KeptAnswers({ maxEntries: 5, maxBytes: 10_000 });
      kept.keep('a', answer('one'));
      expect([kept.find('a', 99)?.result, kept.find('a', 100), kept.find('a', 50)]).toEqual([
        { text: 'one' },
        undefined,
        undefined,
      ]);
    });

    it('are bounded in number: what was not used for longest goes', () => {
      const kept = new KeptAnswers({ maxEntries: 2, maxBytes: 10_000 });
      for (const key of ['a', 'b']) kept.keep(key, answer(key));
      kept.find('a', 0);
      kept.keep('c', answer('c'));
      expect(['a', 'b', 'c'].map((key) => kept.find(key, 0) !== undefined)).toEqual([true, false, true]);
    });

    it('are bounded in bytes, together and each', () => {
      const kept = new KeptAnswers({ maxEntries: 1000, maxBytes: 10_000 });
      for (let at = 0; at < 100; at++) kept.keep(`k${at}`, answer('x'.repeat(900)));
      const left = Array.from({ length: 100 }, (_, at) => kept.find(`k${at}`, 0)).filter(Boolean);
      expect(left).toHaveLength(10);
      kept.keep('large', answer('x'.repeat(1001)));
      expect(kept.find('large', 0)).toBeUndefined();
    });

    it('are counted right when they are replaced, and let go of where they are meant', () => {
      const kept = new KeptAnswers({ maxEntries: 1000, maxBytes: 10_000 });
      for (let count = 0; count < 100; count++) kept.keep('same', answer('x'.repeat(900)));
      for (let at = 0; at < 9; at++) kept.keep(`k${at}`, answer('x'.repeat(900)));
      expect(kept.find('same', 0)).toBeDefined();
      kept.forget(({ method }) => method === 'tools/list');
      expect(kept.find('same', 0)).toBeUndefined();
    });
  });
});

it('An answer is forgotten, and one on its way is not kept, if changes may have been lost', async () => {
  const { cache, gives, result, asked, ask } = start();
  gives(() => good({ contents: [] }));
  await result('ann', { method: 'resources/read', params: { uri: 'test://a' } });
  const { promise, resolve } = Promise.withResolvers<Answer>();
  gives(() => promise);
  const { answer } = ask('ann');
  cache.hearAll?.();
  resolve(good({ tools: [] }));
  await answer;
  gives(() => good({}));
  await result('ann');
  await result('ann', { method: 'resources/read', params: { uri: 'test://a' } });
  expect(asked()).toBe(4);
});
