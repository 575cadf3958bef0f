import { expect, it } from 'vitest';
import { AdministrationRefused } from '../../../src/authorization-server/administration/administration-refused.ts';
import { openTestAdministration } from './support/administration.ts';

it('is told from other errors by its class and its name', async () => {
  const administration = await openTestAdministration();
  const refusal = await administration.accounts.remove('nobody@example.com').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(AdministrationRefused);
  expect(refusal).toMatchObject({ name: 'AdministrationRefused' });
});
