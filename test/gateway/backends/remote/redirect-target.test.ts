import { expect, it } from 'vitest';
import { redirectTarget } from '../../../../src/gateway/backends/remote/redirect-target.ts';

const base = new URL('https://tools.internal/s/secret/mcp?key=ours');

it.each([
  ['https://login.example/in?state=secret#token', 'https://login.example/in'],
  ['https://ann:secret@login.example/in', 'https://login.example/in'],
  ['/s/secret/mcp/', 'https://tools.internal/…/…/…/'],
  ['/v2/secret/mcp', 'https://tools.internal/v2/…/…'],
  ['http:ann:secret@host/in', 'http://host/in'],
  ['ann:secret@host/in', undefined],
  ['./ann:secret@host/in', 'https://tools.internal/…/…/…/in'],
  ['foo:ann:secret@host/in', undefined],
  ['http://tools.internal:8080/a b\u{9b}', 'http://tools.internal:8080/a%20b%C2%9B'],
  ['https://[', undefined],
  [undefined, undefined],
])('where a redirect leads is told without what may be secret: %j (T-194)', (location, target) => {
  expect(redirectTarget(location, base)).toBe(target);
});

it('where a redirect leads from what is no URL is not told', () => {
  expect(redirectTarget('/in', null)).toBeUndefined();
});

it('where a redirect leads is told in part where it is long', () => {
  expect(redirectTarget(`/${'x'.repeat(100_000)}`, base)?.length).toBeLessThan(10_000);
});
