import { describe, expect, it } from 'vitest';
import { KeptAnswers } from '../../../src/gateway/steps/kept-answers.ts';

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
