import { describe, expect, it } from 'vitest';
import type { StoredPasskey } from '../../../src/storage/accounts.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { account, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

const codes = { secret: payload('sealed'), lastStep: 10, createdAt: startOfTime };

async function openWithTwo(open: OpenStorage): Promise<Storage> {
  const storage = await openForTest(open);
  for (const id of ['ada', 'grace']) await storage.accounts.add(account(id));
  return storage;
}

/** What every store of one-time codes does. */
export function describeOneTimeCodes(open: OpenStorage): void {
  describe('one-time codes', () => {
    it('are off until they are turned on, once', async () => {
      const { oneTimeCodes } = await openWithTwo(open);
      expect(await oneTimeCodes.find('ada')).toBeUndefined();
      expect(await oneTimeCodes.enable('nobody', codes, [])).toBe(false);
      const attempts = await Promise.all([1, 2].map(() => oneTimeCodes.enable('ada', codes, ['x', 'y'])));
      expect(attempts).toEqual([true, false]);
      expect(await oneTimeCodes.find('ada')).toEqual({ ...codes, recoveryCodesLeft: 2 });
      expect(await oneTimeCodes.find('grace')).toBeUndefined();
    });

    it('are taken once a time step, and never of an earlier one (RFC 6238 section 5.2)', async () => {
      const { oneTimeCodes } = await openWithTwo(open);
      await oneTimeCodes.enable('ada', codes, []);
      const taken = await Promise.all([11, 11, 11].map((step) => oneTimeCodes.useStep('ada', step)));
      expect(taken).toEqual([true, false, false]);
      expect(await oneTimeCodes.useStep('ada', 10)).toBe(false);
      expect(await oneTimeCodes.useStep('grace', 11)).toBe(false);
    });

    it('have recovery codes that are taken once, by their own account', async () => {
      const { oneTimeCodes } = await openWithTwo(open);
      await oneTimeCodes.enable('ada', codes, ['x', 'y']);
      await oneTimeCodes.enable('grace', codes, ['z']);
      expect(await oneTimeCodes.useRecoveryCode('grace', 'x')).toBe(false);
      const taken = await Promise.all(['x', 'x', 'x'].map((id) => oneTimeCodes.useRecoveryCode('ada', id)));
      expect(taken).toEqual([true, false, false]);
      expect(await oneTimeCodes.find('ada')).toMatchObject({ recoveryCodesLeft: 1 });
      expect(await oneTimeCodes.replaceRecoveryCodes('ada', ['n'])).toBe(true);
      expect(await oneTimeCodes.useRecoveryCode('ada', 'y')).toBe(false);
      expect(await oneTimeCodes.useRecoveryCode('ada', 'n')).toBe(true);
      expect(await oneTimeCodes.replaceRecoveryCodes('nobody', ['n'])).toBe(false);
    });

    it('are turned off with their recovery codes, and go with the account', async () => {
      const { accounts, oneTimeCodes } = await openWithTwo(open);
      await oneTimeCodes.enable('ada', codes, ['x']);
      expect(await oneTimeCodes.disable('ada')).toBe(true);
      expect(await oneTimeCodes.disable('ada')).toBe(false);
      expect(await oneTimeCodes.useRecoveryCode('ada', 'x')).toBe(false);
      expect(await oneTimeCodes.enable('ada', codes, ['x'])).toBe(true);
      await accounts.remove('ada');
      expect(await oneTimeCodes.find('ada')).toBeUndefined();
    });
  });
}

const passkey = (id: string, accountId = 'ada', more: Partial<StoredPasskey> = {}): StoredPasskey => ({
  id,
  accountId,
  name: `key ${id}`,
  publicKey: Buffer.from(`public ${id}`),
  counter: 0,
  isSynced: false,
  transports: ['internal', 'usb'],
  createdAt: startOfTime,
  ...more,
});

/** What every store of passkeys does. */
export function describePasskeys(open: OpenStorage): void {
  describe('passkeys', () => {
    it('are kept, found by id, listed by account, oldest first', async () => {
      const { passkeys } = await openWithTwo(open);
      expect(await passkeys.isAnyStored()).toBe(false);
      const young = passkey('a', 'ada', { createdAt: startOfTime + 1, isSynced: true, counter: 3 });
      for (const kept of [young, passkey('b'), passkey('c', 'grace')])
        expect(await passkeys.add(kept, 5)).toBe(true);
      expect(await passkeys.find('a')).toEqual(young);
      expect(await passkeys.find('z')).toBeUndefined();
      expect((await passkeys.listOf('ada')).map(({ id }) => id)).toEqual(['b', 'a']);
      expect(await passkeys.isAnyStored()).toBe(true);
    });

    it('have an id to themselves, and no account has more than it may, also when they come at once', async () => {
      const { passkeys } = await openWithTwo(open);
      await passkeys.add(passkey('a'), 5);
      expect(await passkeys.add(passkey('a', 'grace'), 5)).toBe(false);
      expect(await passkeys.add(passkey('b', 'nobody'), 5)).toBe(false);
      const added = await Promise.all(['b', 'c', 'd', 'e'].map((id) => passkeys.add(passkey(id), 3)));
      expect(added.filter(Boolean)).toHaveLength(2);
      expect(await passkeys.listOf('ada')).toHaveLength(3);
    });

    it('log in with a counter that grows, or with none; of two logins with one counter one is taken', async () => {
      const { passkeys } = await openWithTwo(open);
      await passkeys.add(passkey('counts', 'ada', { counter: 7 }), 5);
      await passkeys.add(passkey('never counts'), 5);
      expect(await passkeys.use('counts', 7, startOfTime)).toBe(false);
      const logins = await Promise.all([1, 2, 3, 4].map(() => passkeys.use('counts', 8, startOfTime + 9)));
      expect(logins.filter(Boolean)).toHaveLength(1);
      expect(await passkeys.find('counts')).toMatchObject({ counter: 8, usedAt: startOfTime + 9 });
      expect(await passkeys.use('counts', 0, startOfTime)).toBe(false);
      for (let login = 0; login < 2; login++)
        expect(await passkeys.use('never counts', 0, startOfTime)).toBe(true);
      expect(await passkeys.use('gone', 1, startOfTime)).toBe(false);
    });

    it('are renamed by their own account alone', async () => {
      const { passkeys } = await openWithTwo(open);
      for (const id of ['a', 'b']) await passkeys.add(passkey(id), 5);
      expect(await passkeys.rename('grace', 'a', 'mine')).toBe(false);
      expect(await passkeys.rename('ada', 'z', 'mine')).toBe(false);
      expect(await passkeys.rename('ada', 'a', 'The blue key')).toBe(true);
      expect(await passkeys.listOf('ada')).toEqual([
        passkey('a', 'ada', { name: 'The blue key' }),
        passkey('b'),
      ]);
    });

    it('are removed by their own account alone, and go with it', async () => {
      const { accounts, passkeys } = await openWithTwo(open);
      for (const id of ['a', 'b']) await passkeys.add(passkey(id), 5);
      expect(await passkeys.remove('grace', 'a')).toBe(false);
      expect(await passkeys.remove('ada', 'a')).toBe(true);
      expect(await passkeys.remove('ada', 'a')).toBe(false);
      await accounts.remove('ada');
      expect(await passkeys.find('b')).toBeUndefined();
    });
  });
}
