import { describe, expect, it } from 'vitest';
import { lifeOf, parseHolder, thisHolder } from '../../../src/client/node/lock-holder.ts';
import { runFile } from '../support/child.ts';

describe('the holder of a lock', () => {
  it('is written and read, and no two are the same', () => {
    const [one, two] = [thisHolder(), thisHolder()];
    expect(parseHolder(JSON.stringify(one))).toEqual(one);
    expect(one.id).not.toBe(two.id);
  });

  it.each(['', '{', '"x"', '{"id":"a"}', '{"id":"a","pid":-1,"space":"s"}'])(
    'is not known from the text %s',
    (text) => {
      expect(parseHolder(text)).toBeUndefined();
    },
  );

  it('runs, is dead, or is out of sight', async () => {
    const child = runFile('-e', ['']);
    await child.ended;
    const ended = { ...thisHolder(), pid: child.process.pid ?? 0 };
    expect(lifeOf(thisHolder())).toBe('running');
    expect(lifeOf(ended)).toBe('dead');
    expect(lifeOf({ ...ended, space: 'another machine' })).toBe('unknown');
    expect(lifeOf(undefined)).toBe('unknown');
  });
});
