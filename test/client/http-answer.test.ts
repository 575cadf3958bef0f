import { describe, expect, it } from 'vitest';
import { isRedirect, nullBodyStatuses, redirectToSpelling } from '../../src/client/http-answer.ts';

describe('an answer', () => {
  it.each([
    [200, false],
    [302, true],
    [304, false],
    [307, true],
    [404, false],
  ])('of status %i leads elsewhere: %s (T-186)', (status, expected) => {
    expect(isRedirect({ status, type: 'default' })).toBe(expected);
  });

  it('that a browser hides because it is a redirect leads elsewhere, too', () => {
    expect(isRedirect({ status: 0, type: 'opaqueredirect' })).toBe(true);
  });

  it('of a status without a body can be built only without one', () => {
    for (const status of nullBodyStatuses) expect(() => new Response('body', { status })).toThrow();
  });
});

it.each([
  ['https://x.dev/mcp', 308, '/mcp/', 'https://x.dev/mcp/'],
  ['https://x.dev/mcp/', 307, 'https://x.dev/mcp', 'https://x.dev/mcp'],
  ['https://x.dev/mcp', 302, '/mcp/', undefined],
  ['https://x.dev/mcp', 308, '/mcp', undefined],
  ['https://x.dev/mcp', 308, '/login', undefined],
  ['https://x.dev/mcp', 308, 'https://y.dev/mcp/', undefined],
  ['https://x.dev/mcp', 308, 'http://x.dev/mcp/', undefined],
])('a request to %s that is answered %i to %s goes on to %s (FA-27, T-186)', (url, status, location, to) => {
  expect(redirectToSpelling(url, new Response(null, { status, headers: { location } }))).toBe(to);
});
