import { describe, expect, it } from 'vitest';
import { isRedirect, nullBodyStatuses } from '../../src/client/http-answer.ts';

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
