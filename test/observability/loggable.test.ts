import { expect, it } from 'vitest';
import { loggable, replaceAddresses } from '../../src/observability/loggable.ts';

it('bears what others chose up to a length (T-195)', () => {
  expect(loggable(undefined)).toBeUndefined();
  expect(loggable('x'.repeat(500))).toBe('x'.repeat(500));
  expect(loggable('x'.repeat(501))).toBe(`${'x'.repeat(500)}… (501 characters)`);
});

it('replaces e-mail addresses in a text, and keeps names of packages and users in paths', () => {
  expect(replaceAddresses('mail ada@example.com, <a/b@example.com>\nor "o\'neil+x@example.com"')).toBe(
    'mail [address], <[address]>\nor "[address]"',
  );
  expect(['a/@b', '"a,b"@c', 'a:b@c/d'].map(replaceAddresses)).toEqual([
    '[address]',
    '[address]',
    '[address]',
  ]);
  for (const text of ['no address', 'file:///a/node_modules/@scope/b.js:1:2', 'https://example.com/@ada/app'])
    expect(replaceAddresses(text)).toBe(text);
});
