import { describe, expect, it } from 'vitest';
import {
  createCircuitBreaker,
  newTokenSeconds,
  TokenHistory,
} from '../../../src/client/session/token-history.ts';
import { startOfTime } from '../support/context.ts';
import { testCredential } from '../support/credentials.ts';

function setUp() {
  const clock = { seconds: startOfTime };
  return { clock, memory: new TokenHistory('https://mcp.example/mcp', () => clock.seconds) };
}

const token = (accessToken: string, expiresAt = startOfTime + 3600) =>
  testCredential({ accessToken, expiresAt });

describe('the memory of tokens', () => {
  it('calls a storm what rejects one new token after the other, and says why that may be (T-186)', () => {
    const { clock, memory } = setUp();
    const storms = ['1', '2', '3'].map((name) => memory.reject(memory.obtain(token(name))));
    expect(storms).toEqual([false, false, true]);
    expect(() => memory.requireCalm()).toThrow('audience is not https://mcp.example/mcp');
    clock.seconds += 60;
    expect(() => memory.requireCalm()).not.toThrow();
  });

  it('counts a token once, however many requests it had', () => {
    const { memory } = setUp();
    const credential = memory.obtain(token('1'));
    expect(Array.from({ length: 5 }, () => memory.reject(credential))).toEqual(Array(5).fill(false));
  });

  it('does not count a token that has served for a while', () => {
    const { clock, memory } = setUp();
    const rejected = ['1', '2', '3', '4'].map((name) => {
      const credential = memory.obtain(token(name));
      clock.seconds += newTokenSeconds;
      return memory.reject(credential);
    });
    expect(rejected).toEqual(Array(4).fill(false));
  });

  it('takes the first token it meets for an old one', () => {
    const { memory } = setUp();
    memory.meet(token('1'));
    expect(memory.ageOf(token('1'))).toBe(Number.POSITIVE_INFINITY);
    memory.meet(token('2'));
    expect(memory.ageOf(token('2'))).toBe(0);
  });

  it('lets nobody send a token that was given up, for a minute, and another one at once', () => {
    const { clock, memory } = setUp();
    expect(memory.giveUp(token('1'), null).message).toContain('not even a new one');
    expect(() => memory.meet(token('1'))).toThrow('does not accept');
    expect(() => memory.meet(token('2'))).not.toThrow();
    clock.seconds += 60;
    expect(() => memory.meet(token('1'))).not.toThrow();
  });

  it.each([
    ['Bearer scope="notes", DPoP algs="ES256"', 'remove the Authorization header'],
    ['Bearer error="invalid_token"', 'for another audience'],
    [null, 'for another audience'],
  ])('says by the challenge %s why a new token may not do', (challenge, why) => {
    expect(setUp().memory.giveUp(token('1'), challenge).message).toContain(why);
  });

  it('says with each refusal what was chosen at the login, for the one in its place', () => {
    const { memory } = setUp();
    const bound = testCredential({ dpopKey: { kty: 'EC' }, withoutResource: true });
    const refusal = expect.objectContaining({
      before: expect.objectContaining({ chosen: { dpop: true, withoutResource: true } }),
    });
    expect(memory.giveUp(bound, null)).toEqual(refusal);
    expect(() => memory.meet(bound)).toThrow(refusal);
    for (const accessToken of ['1', '2', '3']) memory.reject(memory.obtain({ ...bound, accessToken }));
    expect(() => memory.requireCalm()).toThrow(refusal);
  });

  it('tells a token that came to its end from one that was rejected', () => {
    const { clock, memory } = setUp();
    expect(memory.hasEnded()).toBe(false);
    memory.obtain(token('1', startOfTime + 10));
    expect(memory.hasEnded()).toBe(false);
    clock.seconds += 10;
    expect(memory.hasEnded()).toBe(true);
    memory.reject(token('1', startOfTime + 10));
    expect(memory.hasEnded()).toBe(false);
  });
});

describe('circuit breaker', () => {
  function setUp() {
    const clock = { seconds: 1000 };
    const limits = { limit: 3, windowSeconds: 60, restSeconds: 30 };
    return { clock, breaker: createCircuitBreaker(limits, () => clock.seconds) };
  }

  describe('a circuit breaker', () => {
    it('holds back after as many failures as it bears, and lets through again after its rest (T-186)', () => {
      const { clock, breaker } = setUp();
      expect([breaker.recordFailure(), breaker.recordFailure()]).toEqual([false, false]);
      expect(breaker.isOpen()).toBe(false);
      expect(breaker.recordFailure()).toBe(true);
      clock.seconds += 29;
      expect(breaker.isOpen()).toBe(true);
      clock.seconds += 1;
      expect(breaker.isOpen()).toBe(false);
    });

    it('bears as much again after its rest', () => {
      const { clock, breaker } = setUp();
      for (let failure = 0; failure < 3; failure++) breaker.recordFailure();
      clock.seconds += 30;
      expect([breaker.recordFailure(), breaker.recordFailure(), breaker.recordFailure()]).toEqual([
        false,
        false,
        true,
      ]);
    });

    it('forgets failures older than its window', () => {
      const { clock, breaker } = setUp();
      breaker.recordFailure();
      breaker.recordFailure();
      clock.seconds += 60;
      expect(breaker.recordFailure()).toBe(false);
    });
  });
});
