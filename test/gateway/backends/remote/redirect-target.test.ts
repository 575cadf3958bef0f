import { expect, it } from 'vitest';
import { redirectTarget } from '../../../../src/gateway/backends/remote/redirect-target.ts';

const base = new URL('https://tools.internal/s/secret/mcp?key=ours');

it.each([
  ['https://login.example/in?state=secret#token', 'https://login.example/…'],
  ['https://ann:secret@login.example', 'https://login.example/'],
  ['/s/secret/mcp/', 'https://tools.internal/…'],
  ['http://tools.internal:8080/ann:secret@host', 'http://tools.internal:8080/…'],
  ['http:ann:secret@host/in', 'http://host/…'],
  ['foo:ann:secret@host/in', undefined],
  ['https://[', undefined],
  [undefined, undefined],
])('where a redirect leads is told without what may be secret: %j (T-194)', (location, target) => {
  expect(redirectTarget(location, base)).toBe(target);
});

it('where a redirect leads from what is no URL is not told', () => {
  expect(redirectTarget('/in', null)).toBeUndefined();
});
