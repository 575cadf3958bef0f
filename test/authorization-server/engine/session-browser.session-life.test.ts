import { describe, expect, it } from 'vitest';
import { sessionTtl } from '../../../src/authorization-server/engine/session-browser.ts';

const life = { sessionSeconds: 1000, sessionIdleSeconds: 300 };

describe('a login in a browser', () => {
  it.each([
    [undefined, 5000, 300],
    [5000, 5000, 300],
    [5000, 5700, 300],
    [5000, 5800, 200],
    [5000, 5999, 1],
    [5000, 9000, 1],
  ])('begun at %s and used at %i goes on for %i seconds (T-124)', (loginTs, now, seconds) => {
    expect(sessionTtl(life, loginTs, now)).toBe(seconds);
  });
});
