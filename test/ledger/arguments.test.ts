import { describe, expect, it } from 'vitest';
import { createArgumentsBox } from '../../src/crypto/call-chain.ts';
import { hashArguments, namesOfArguments, sealArguments } from '../../src/ledger/arguments.ts';

describe('The hash of arguments', () => {
  it('is equal for equal arguments, and says nothing without the key', () => {
    const hash = hashArguments('key', { a: 1, b: 2 });
    expect(hash).toMatch(/^[\w-]{22}$/);
    expect(hashArguments('key', { b: 2, a: 1 })).toBe(hash);
    expect(hashArguments('other', { a: 1, b: 2 })).not.toBe(hash);
  });
});

describe('The names of arguments', () => {
  it('are shortened, and hold no control characters', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`name${at}`, at]));
    expect(namesOfArguments(many).split(',')).toHaveLength(21);
    expect(namesOfArguments({ [`${'x'.repeat(100)}`]: 1 })).toHaveLength(40);
    expect(namesOfArguments({ 'a\u001b[31m': 1 })).not.toContain('\u001b');
  });
});

describe('Kept arguments', () => {
  const box = createArgumentsBox('key');
  const given = {
    owner: 'ada',
    title: 'a secret',
    list: [{ id: 7, token: 'canary' }],
    flag: true,
    none: null,
  };
  const opened = (sealed: Uint8Array | null): unknown =>
    JSON.parse(box.open(sealed ?? new Uint8Array(), 'place'));

  it('are none by default', () => {
    expect(sealArguments(given, { arguments: 'hash', keep: [] }, box, () => 'place')).toBeNull();
  });

  it('are sealed, and redacted show types in place of values that are not listed', () => {
    const sealed = sealArguments(given, { arguments: 'redacted', keep: ['owner', 'id'] }, box, () => 'place');
    expect(Buffer.from(sealed ?? []).toString('latin1')).not.toContain('ada');
    expect(opened(sealed)).toEqual({
      owner: 'ada',
      title: 'string(8)',
      list: [{ id: 7, token: 'string(6)' }],
      flag: 'boolean',
      none: null,
    });
  });

  it('are complete if the route keeps all, up to 4,096 characters', () => {
    expect(opened(sealArguments(given, { arguments: 'full', keep: [] }, box, () => 'place'))).toEqual(given);
    const long = sealArguments(
      { text: 'x'.repeat(10_000) },
      { arguments: 'full', keep: [] },
      box,
      () => 'place',
    );
    const { shortened } = opened(long) as { shortened: string };
    expect(shortened).toHaveLength(4096);
  });

  it('cannot be opened for another call', () => {
    const sealed = sealArguments(given, { arguments: 'full', keep: [] }, box, () => 'place');
    expect(() => box.open(sealed ?? new Uint8Array(), 'elsewhere')).toThrow();
  });
});
