import Provider from 'oidc-provider';
import { expect, it } from 'vitest';
import { dateGrants } from '../../../src/authorization-server/engine/dated-grants.ts';

it('grants of an engine are dated, in the order in which they are made, and no two are the same', async () => {
  const provider = new Provider('https://auth.example');
  dateGrants(provider);
  const save = () =>
    Object.assign(new provider.Grant({ accountId: 'ada', clientId: 'c' }), { expiresIn: 60 }).save();
  const before = Date.now();
  const ids = [await save(), await save()];
  const dates = ids.map((id) => Number.parseInt(/^([\da-z]{9})-[\w-]{43}$/.exec(id)?.[1] ?? '', 36));
  expect(dates).toEqual([...dates].sort((a, b) => a - b));
  expect(dates[0]).toBeGreaterThanOrEqual(before);
  expect(dates[1]).toBeLessThanOrEqual(Date.now());
  expect(new Set(ids).size).toBe(2);
});
