import { describe, expect, it } from 'vitest';
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
