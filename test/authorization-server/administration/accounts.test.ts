import { beforeEach, describe, expect, it } from 'vitest';
import { AdministrationRefused } from '../../../src/authorization-server/administration/administration-refused.ts';
import { openTestAdministration } from './support/administration.ts';

const password = 'correct horse battery staple';
let administration: Awaited<ReturnType<typeof openTestAdministration>>;
beforeEach(async () => {
  administration = await openTestAdministration();
});

describe('an account', () => {
  it('is added with the time of the clock, under the address in lower case, once', async () => {
    const added = await administration.accounts.add('Ada@Example.com', password);
    expect(added).toEqual({
      id: expect.stringMatching(/^acct_/),
      email: 'ada@example.com',
      createdAt: 1_800_000_000,
    });
    expect(await administration.accounts.list()).toEqual([added]);
    await expect(administration.accounts.add('ada@example.com', password)).rejects.toThrow(/already/);
  });

  it.each([
    'ada',
    'ada@',
    '@example.com',
    'a da@example.com',
    'ada@exam\nple.com',
    'ada\u001b[31m@example.com',
    'ada\u0007@example.com',
    'ada@example.com\u009b2J',
    'ada\u202e@example.com',
    'ada\u200b@example.com',
    `${'a'.repeat(250)}@example.com`,
  ])('is not added under %j, and the refusal is fit for a terminal (T-190)', async (email) => {
    const refusal = await administration.accounts.add(email, password).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AdministrationRefused);
    expect(String(refusal)).toContain('is not an e-mail address');
    expect(String(refusal)).toMatch(/^\P{C}*$/u);
    expect(await administration.accounts.list()).toEqual([]);
  });

  it('that does not exist cannot be removed or changed', async () => {
    await expect(administration.accounts.remove('ada@example.com')).rejects.toThrow(AdministrationRefused);
    await expect(administration.accounts.setPassword('ada@example.com', password)).rejects.toThrow(
      /There is no account ada@example\.com/,
    );
  });
});
