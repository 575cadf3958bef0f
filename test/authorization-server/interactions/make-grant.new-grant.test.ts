import Provider from 'oidc-provider';
import { expect, it } from 'vitest';
import { newGrant } from '../../../src/authorization-server/interactions/make-grant.ts';

it('new grants have dated ids, in the order in which they are made, and no two the same', async () => {
  const provider = new Provider('https://auth.example');
  const before = Date.now();
  const save = () => newGrant(provider, { accountId: 'ada', clientId: 'c', expiresIn: 60 }).save();
  const ids = [await save(), await save()];
  const dates = ids.map((id) => Number.parseInt(/^([\da-z]{9})-[\w-]{43}$/.exec(id)?.[1] ?? '', 36));
  expect(dates).toEqual([...dates].sort((a, b) => a - b));
  expect(dates[0]).toBeGreaterThanOrEqual(before);
  expect(dates[1]).toBeLessThanOrEqual(Date.now());
  expect(new Set(ids).size).toBe(2);
  const found = await provider.Grant.find(ids[0] ?? '');
  expect(found).toMatchObject({ accountId: 'ada', clientId: 'c' });
  expect(Number(found?.exp) - Number(found?.iat)).toBe(60);
});
