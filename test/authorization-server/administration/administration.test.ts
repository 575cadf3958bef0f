import { expect, it } from 'vitest';
import { openTestAdministration } from './support/administration.ts';

it('of a new installation finds nobody and nothing', async () => {
  const administration = await openTestAdministration();
  expect(await administration.accounts.list()).toEqual([]);
  expect(await administration.clients.list()).toEqual([]);
});
