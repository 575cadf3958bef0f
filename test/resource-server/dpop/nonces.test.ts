import { describe, expect, it } from 'vitest';
import { createDpopNonces, nonceLifeSeconds } from '../../../src/resource-server/dpop/nonces.ts';

const start = 1_800_000_000;

describe('nonces for proofs', () => {
  it('are known to every process with the key, and to none with another (A13-09)', () => {
    const [one, same, other] = ['key', 'key', 'other'].map((key) =>
      createDpopNonces(
        () => [key],
        () => start,
      ),
    );
    expect(same?.accepts(one?.current() ?? '')).toBe(true);
    expect(other?.accepts(one?.current() ?? '')).toBe(false);
  });

  it('change by the minute, and are accepted some minutes more, never before their time (A13-09)', () => {
    let now = start;
    const nonces = createDpopNonces(
      () => ['key'],
      () => now,
    );
    const first = nonces.current();
    now = start + 59;
    expect(nonces.current()).toBe(first);
    now = start + 60;
    const second = nonces.current();
    expect(second).not.toBe(first);
    expect(nonces.accepts(first)).toBe(true);
    now = start + nonceLifeSeconds - 1;
    expect(nonces.accepts(first)).toBe(true);
    now = start + nonceLifeSeconds;
    expect(nonces.accepts(first)).toBe(false);
    now = start;
    expect(nonces.accepts(second)).toBe(false);
  });

  it('outlive the rotation of their key, as long as it is kept (A13-09)', () => {
    let keys = ['old'];
    const nonces = createDpopNonces(
      () => keys,
      () => start,
    );
    const given = nonces.current();
    keys = ['new', 'old'];
    expect(nonces.current()).not.toBe(given);
    expect(nonces.accepts(given)).toBe(true);
    keys = ['new'];
    expect(nonces.accepts(given)).toBe(false);
  });

  it.each(['', 'x', '0'.repeat(43), 'ä'.repeat(43)])('do not include %j', (nonce) => {
    expect(
      createDpopNonces(
        () => ['key'],
        () => start,
      ).accepts(nonce),
    ).toBe(false);
  });
});
