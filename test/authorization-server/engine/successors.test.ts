import { describe, expect, it } from 'vitest';
import {
  isInGrace,
  successorOf,
  type WithSuccessor,
} from '../../../src/authorization-server/engine/successors.ts';
import { hashSecret, randomSecret } from '../../../src/crypto/secret.ts';
import { startAdapters } from '../storage-subject.ts';

describe('successors of a refresh token', () => {
  it('are the same each time, of 256 bits, and lead neither to each other nor to a stored name', () => {
    const secret = randomSecret();
    const of = (kind: 'AccessToken' | 'RefreshToken', at = 1_800_000_000_123) =>
      successorOf(kind, secret, at);
    const values = [of('AccessToken'), of('RefreshToken')];
    expect(values).toEqual([of('AccessToken'), of('RefreshToken')]);
    for (const value of values) expect(value).toMatch(/^0mywpiwzf-[\w-]{43}$/);
    expect(of('AccessToken', 1_800_000_000_124)).not.toBe(values[0]);
    const names = ['AccessToken', 'RefreshToken'].map((kind) => hashSecret(kind, secret));
    expect(new Set([secret, ...values, ...names]).size).toBe(5);
  });

  it('are of each refresh token alone, and sealed with it (T-194)', async () => {
    const { storage, adapter } = await startAdapters();
    const granted = { accountId: 'ada', clientId: 'c', grantId: 'g', kind: 'RefreshToken' };
    await adapter('Grant').upsert('g', granted, 60);
    await adapter('RefreshToken').upsert('first', granted, 60);
    const first = (await adapter('RefreshToken').find('first')) as WithSuccessor | undefined;
    await adapter('RefreshToken').upsert('second', { ...granted, ...first }, 60);
    const second = (await adapter('RefreshToken').find('second')) as WithSuccessor | undefined;
    expect(first?.successor).toMatch(/^[\w-]{43}$/);
    expect(second?.successor).not.toBe(first?.successor);
    const row = await storage.artifacts.find('RefreshToken', hashSecret('RefreshToken', 'first'));
    expect(Buffer.from(row?.payload ?? []).toString('latin1')).not.toContain(first?.successor);
  });
});

describe('a refresh token that was used', () => {
  it('may be sent again within the window, and not at its end or after a clock was set back (T-044, T-176)', () => {
    const asked = [1000, 1119, 940, 1120, 939].map((now) => isInGrace(1000, now, 120));
    expect(asked).toEqual([true, true, true, false, false]);
    expect(isInGrace(1000, 1000, 0)).toBe(false);
  });
});
