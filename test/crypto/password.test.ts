import { hash } from '@node-rs/argon2';
import { describe, expect, it } from 'vitest';
import {
  checkPassword,
  createPasswordHasher,
  isUnknownPassword,
  PasswordQueueFull,
  randomPassword,
  unknownPasswordHash,
} from '../../src/crypto/password.ts';
import { patience } from '../support/patience.ts';

const hasher = createPasswordHasher();

describe('a password hash', () => {
  it('is argon2id with 19 MiB, two passes, one lane and a fresh salt of 16 bytes (T-120)', async () => {
    const [one = '', other = ''] = await Promise.all([hasher.hash('password'), hasher.hash('password')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(other);
  });

  it.each([
    ['letters', 'correct horse battery staple', 'correct horse battery stapl'],
    ['a space at the end', 'password ', 'password'],
    ['case', 'Password', 'password'],
    ['unicode', 'pässwörd🗝', 'password🗝'],
    ['the form of unicode', 'p\u00e4ssword', 'pa\u0308ssword'],
    ['what follows a NUL', 'pass\u0000word', 'pass\u0000wort'],
    ['the end at a NUL', 'password\u0000', 'password'],
    ['the 73rd character', `${'x'.repeat(72)}a`, `${'x'.repeat(72)}b`],
    ['the 1024th byte', `${'x'.repeat(1023)}a`, `${'x'.repeat(1023)}b`],
  ])('is verified exactly: %s count (T-120)', async (_what, password, other) => {
    const stored = await hasher.hash(password);
    expect(await Promise.all([hasher.verify(password, stored), hasher.verify(other, stored)])).toEqual([
      true,
      false,
    ]);
  });

  it('is outdated where it was made with other parameters, and not otherwise (T-120)', async () => {
    expect(hasher.isOutdated(await hasher.hash('password'))).toBe(false);
    const former = await hash('password', { memoryCost: 8192, timeCost: 2, parallelism: 1 });
    expect(hasher.isOutdated(former)).toBe(true);
    expect(await hasher.verify('password', former)).toBe(true);
  });
});

describe('verifying', () => {
  it('costs the same time without an account, and says no (T-116)', async () => {
    const stored = await hasher.hash('password');
    const median = async (against: string | undefined): Promise<number> => {
      const times: number[] = [];
      for (let trial = 0; trial < 9; trial++) {
        const begun = performance.now();
        expect(await hasher.verify('a wrong one', against)).toBe(false);
        times.push(performance.now() - begun);
      }
      return times.sort((a, b) => a - b)[4] ?? 0;
    };
    await median(undefined);
    const [known, unknown] = [await median(stored), await median(undefined)];
    // Without the decoy it is a thousandth; a busy machine alone makes it half or twice.
    expect(unknown).toBeGreaterThan(known / 5);
    expect(unknown).toBeLessThan(known * 5);
  });

  it('takes no account for one whose password is that of the decoy', async () => {
    expect(await hasher.verify('a password nobody has', undefined)).toBe(false);
  });

  it('does not hash what is longer than any password (T-118)', async () => {
    const stored = await hasher.hash('password');
    const begun = performance.now();
    expect(await hasher.verify('x'.repeat(1_000_000), stored)).toBe(false);
    expect(performance.now() - begun).toBeLessThan(patience(50));
  });

  it('runs no more at once than allowed, and refuses what does not fit the queue (T-118, T-206)', async () => {
    const small = createPasswordHasher({
      running: 1,
      waiting: 9,
      perCaller: { running: 1, waiting: 2 },
    });
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => small.verify('a wrong one', undefined, ['ada'])),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(results[9]).toMatchObject({ reason: expect.any(PasswordQueueFull) });
    expect(await small.verify('a wrong one', undefined)).toBe(false);
  });
});

describe('a password', () => {
  it.each([
    ['seven77', /at least 8 characters/],
    ['', /at least 8 characters/],
    ['🗝🗝🗝🗝', /at least 8 characters/],
    ['x'.repeat(1025), /at most 1024 bytes/],
    ['🗝'.repeat(257), /at most 1024 bytes/],
  ])('%.12j is refused', (password, fault) => {
    expect(checkPassword(password)).toMatch(fault);
  });

  it.each(['eight888', '🗝'.repeat(8), 'x'.repeat(1024), '        '])('%.12j is taken', (password) => {
    expect(checkPassword(password)).toBeUndefined();
  });

  it('made up by us can be read aloud, is taken, and is never the same', () => {
    const made = Array.from({ length: 200 }, randomPassword);
    expect(made.every((password) => /^(?:[a-hjkmnp-z2-9]{5}-){3}[a-hjkmnp-z2-9]{5}$/.test(password))).toBe(
      true,
    );
    expect(new Set(made).size).toBe(200);
    expect(checkPassword(made[0] ?? '')).toBeUndefined();
  });

  it('that nobody knows is stored as one like any other, and never the same', async () => {
    const hasher = createPasswordHasher();
    const stored = unknownPasswordHash();
    expect(stored).not.toBe(unknownPasswordHash());
    expect(hasher.isOutdated(stored)).toBe(false);
    for (const password of ['', 'password', stored])
      expect(await hasher.verify(password, stored)).toBe(false);
  });

  it('that nobody knows can be told from one that somebody set', async () => {
    expect(isUnknownPassword(unknownPasswordHash())).toBe(true);
    const stored = await hasher.hash('password');
    const [digest = ''] = unknownPasswordHash().split('$').reverse();
    for (const other of [stored, stored.replace(/[^$]*$/, digest), '', '$'])
      expect(isUnknownPassword(other), other).toBe(false);
  });
});
