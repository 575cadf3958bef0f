import { join } from 'node:path';
import { hash } from '@node-rs/argon2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogin, type Login, type LoginLimits } from '../../src/authorization-server/login.ts';
import { createPasswordHasher, type PasswordHasher } from '../../src/crypto/password.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/index.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { testFolder } from '../client/support/folder.ts';

const password = 'the right password';
const home = '203.0.113.1';
const elsewhere = '198.51.100.1';
const times = (count: number) => ({ times: count, windowSeconds: 60 });

interface Subject {
  login: Login;
  storage: Storage;
}

async function create(
  limits: Partial<LoginLimits> = {},
  hasher: PasswordHasher = createPasswordHasher(),
): Promise<Subject> {
  const storage = openSqliteStorage(join(testFolder(), 'gatehouse.db'));
  onTestFinished(() => storage.close());
  const passwordHash = await createPasswordHasher().hash(password);
  for (const id of ['ada', 'eve'])
    await storage.accounts.add({ id, email: `${id}@example.com`, passwordHash, createdAt: 1 });
  const wide = { perAddress: times(1000), perAccountAndAddress: times(1000), perAccount: times(1000) };
  return { storage, login: createLogin(storage.accounts, hasher, { ...wide, ...limits }) };
}

async function outcomes(login: Login, tries: [string, string, string][]): Promise<string[]> {
  const found: string[] = [];
  for (const attempt of tries) found.push((await login(...attempt)).outcome);
  return found;
}

const ada = 'ada@example.com';
const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('failed logins', () => {
  it('from one address keep nobody out at another (T-117)', async () => {
    const { login } = await create({ perAccountAndAddress: times(3), perAccount: times(10) });
    const guesses = repeat<[string, string, string]>(50, [ada, 'wrong', elsewhere]);
    expect(await outcomes(login, guesses)).toEqual([...repeat(3, 'refused'), ...repeat(47, 'throttled')]);
    expect((await login(ada, password, elsewhere)).outcome).toBe('throttled');
    expect((await login(ada, password, home)).outcome).toBe('accepted');
  });

  it('from many addresses stop at the ceiling of the account, of no other account (T-117)', async () => {
    const { login } = await create({ perAccountAndAddress: times(3), perAccount: times(6) });
    const guesses = Array.from({ length: 8 }, (_, at): [string, string, string] => [
      ada,
      'wrong',
      `192.0.2.${at}`,
    ]);
    expect(await outcomes(login, guesses)).toEqual([...repeat(6, 'refused'), ...repeat(2, 'throttled')]);
    expect((await login(ada, password, home)).outcome).toBe('throttled');
    expect((await login('eve@example.com', password, home)).outcome).toBe('accepted');
  });

  it('over many accounts stop at the ceiling of the address (T-117)', async () => {
    const { login } = await create({ perAddress: times(4) });
    const guesses = Array.from({ length: 6 }, (_, at): [string, string, string] => [
      `${at}@example.com`,
      'wrong',
      elsewhere,
    ]);
    expect(await outcomes(login, guesses)).toEqual([...repeat(4, 'refused'), 'throttled', 'throttled']);
  });

  it('of an address that is over its limit count for no account (T-117)', async () => {
    const { login } = await create({ perAddress: times(2), perAccount: times(4) });
    await outcomes(login, repeat(50, [ada, 'wrong', elsewhere]));
    expect(await outcomes(login, repeat(2, [ada, 'wrong', home]))).toEqual(['refused', 'refused']);
  });

  it('that were throttled use up nothing (T-117)', async () => {
    const { login } = await create({ perAddress: times(4), perAccountAndAddress: times(2) });
    await outcomes(login, repeat(20, [ada, 'wrong', home]));
    expect((await login('eve@example.com', password, home)).outcome).toBe('accepted');
  });

  it('before a right one are forgotten where it was made, not for the account everywhere (T-117)', async () => {
    const { login } = await create({ perAccountAndAddress: times(2), perAccount: times(4) });
    await outcomes(login, [
      [ada, 'wrong', home],
      [ada, password, home],
    ]);
    expect(await outcomes(login, repeat(3, [ada, 'wrong', home]))).toEqual([
      'refused',
      'refused',
      'throttled',
    ]);
    expect(await outcomes(login, repeat(2, [ada, 'wrong', elsewhere]))).toEqual(['refused', 'throttled']);
  });

  it('with a name that no account can have are refused uncounted (T-117)', async () => {
    const { login } = await create({ perAddress: times(1) });
    const names = repeat<[string, string, string]>(5, [`${'x'.repeat(250)}@example.com`, 'wrong', home]);
    expect(await outcomes(login, names)).toEqual(repeat(5, 'refused'));
    expect((await login(ada, password, home)).outcome).toBe('accepted');
  });

  it('to a disabled account are refused like wrong ones, with the right password too (T-116)', async () => {
    const { login, storage } = await create();
    await storage.accounts.setDisabled('ada', 1);
    expect(await login(ada, password, home)).toEqual(await login(ada, 'wrong', home));
    await storage.accounts.setDisabled('ada', undefined);
    expect((await login(ada, password, home)).outcome).toBe('accepted');
  });

  it('say whose account it was, and nothing where there is none (T-197)', async () => {
    const { login } = await create();
    expect(await login(ada, 'wrong', home)).toEqual({ outcome: 'refused', accountId: 'ada' });
    expect(await login(ada, 'x'.repeat(2000), home)).toEqual({ outcome: 'refused', accountId: 'ada' });
    expect(await login('nobody@example.com', 'wrong', home)).toEqual({ outcome: 'refused' });
  });
});

describe('a right login', () => {
  it('replaces a hash of former parameters, and gives the account as it is then stored (T-120)', async () => {
    const { login, storage } = await create();
    const former = await hash(password, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
    await storage.accounts.setPassword('ada', former);
    const result = await login(ada, password, home);
    const stored = await storage.accounts.find('ada');
    expect(stored?.passwordHash).not.toBe(former);
    expect(createPasswordHasher().isOutdated(stored?.passwordHash ?? '')).toBe(false);
    expect(result).toEqual({ outcome: 'accepted', account: stored });
    expect(await login(ada, password, home)).toEqual(result);
  });
});

describe('an attempt that finds no place in the password queue', () => {
  const small = { running: 1, waiting: 9, perCaller: { running: 1, waiting: 1 } };

  it('counts for its address and its account, so a crowd is bounded by the limit of guesses (FA-06, T-206)', async () => {
    const { login } = await create({ perAddress: times(20) }, createPasswordHasher(small));
    const crowd = await Promise.all(
      repeat(30, null).map((_, at) => login(`${at}@example.com`, 'wrong', home)),
    );
    const of = (wanted: string) => crowd.filter(({ outcome }) => outcome === wanted).length;
    expect(of('busy')).toBeGreaterThan(0);
    expect(of('busy') + of('refused')).toBe(20);
    expect((await login(ada, password, home)).outcome).toBe('throttled');
    expect((await login(ada, password, elsewhere)).outcome).toBe('accepted');
  });

  it('is never that of the owner in a known browser because strangers try the account (FA-06, T-206)', async () => {
    const { login } = await create({}, createPasswordHasher(small));
    const strangers = Array.from({ length: 20 }, (_, at) => login(ada, 'wrong', `192.0.2.${at}`));
    expect((await login(ada, password, '192.0.2.1', 'a known browser')).outcome).toBe('accepted');
    expect((await Promise.all(strangers)).some(({ outcome }) => outcome === 'busy')).toBe(true);
  });
});

describe('an attempt of which nothing came', () => {
  const tight = { perAddress: times(2), perAccountAndAddress: times(2), perAccount: times(2) };

  it('because the storage failed is given back, and the failure is told (T-117)', async () => {
    const { storage } = await create();
    let broken = true;
    const accounts: Storage['accounts'] = {
      ...storage.accounts,
      findByEmail: async (email) => {
        if (broken) throw new Error('the disk is gone');
        return storage.accounts.findByEmail(email);
      },
    };
    const login = createLogin(accounts, createPasswordHasher(), tight);
    for (let attempt = 0; attempt < 5; attempt++)
      await expect(login(ada, password, home)).rejects.toThrow('the disk is gone');
    broken = false;
    expect((await login(ada, password, home)).outcome).toBe('accepted');
  });
});
