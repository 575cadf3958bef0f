import { beforeEach, describe, expect, it } from 'vitest';
import {
  findAccountOfLogin,
  trustsEmailDomain,
} from '../../../src/authorization-server/upstream-login/account-of-login.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { AdmissionRules, UpstreamIdentity } from '../../../src/upstream/upstream.ts';
import { account, openForTest, startOfTime } from '../../storage/contract/subject.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

const issuer = 'https://work.example';
const lin: UpstreamIdentity = { issuer, subject: '1001', email: 'Lin@Work.Example', claims: {} };
const ada = account('ada');

let storage: Storage;
beforeEach(async () => {
  storage = await openForTest(openNewDatabase);
  await storage.accounts.add(ada);
});

const isBelieved = trustsEmailDomain({
  all: [
    { issuer: 'https://hub.example', settings: { accounts: { linkByVerifiedEmail: ['work.example'] } } },
    { issuer: 'https://other.example', settings: { accounts: { linkByVerifiedEmail: [] } } },
  ] as never,
});

const find = (
  identity: UpstreamIdentity,
  rules: Partial<AdmissionRules> = {},
  identities: Pick<Storage['identities'], 'findAccount' | 'findSubject' | 'listOf'> = storage.identities,
) =>
  findAccountOfLogin(
    { ...storage, identities, isBelieved, now: () => startOfTime },
    {
      name: 'work',
      settings: { accounts: { create: true, linkByVerifiedEmail: [], ...rules } } as never,
    },
    identity,
  );

async function take(identity: UpstreamIdentity, rules: Partial<AdmissionRules> = {}) {
  const found = await find(identity, rules);
  const result = await storage.artifacts.commit(found.changes);
  expect(result.committed).toBe(true);
  return found;
}

describe('the account of somebody who has logged in at an upstream', () => {
  it('is known by issuer and subject, whatever the address is by now (T-089)', async () => {
    const first = await take(lin);
    expect(first).toMatchObject({ by: 'created', account: { email: 'lin@work.example' } });
    const again = await take({ ...lin, email: 'lin.chen@elsewhere.example' });
    expect(again).toMatchObject({ by: 'known', account: { id: first.account.id }, changes: [] });
    expect((await take({ ...lin, issuer: 'https://other.example', email: 'o@else.example' })).by).toBe(
      'created',
    );
  });

  it('is known if another login of the same person made it between the reads of this one (T-092)', async () => {
    const { account: made } = await take(lin);
    const identities = { ...storage.identities, findAccount: async () => undefined };
    expect(await find(lin, {}, identities)).toMatchObject({ by: 'known', account: { id: made.id } });
    await storage.accounts.setDisabled(made.id, startOfTime);
    await expect(find(lin, {}, identities)).rejects.toMatchObject({ reason: 'account_disabled' });
  });

  it('is not one that an upstream made which is not believed about the address (T-089)', async () => {
    const rules = { linkByVerifiedEmail: ['work.example'] };
    await take({ ...lin, issuer: 'https://other.example' });
    await expect(find(lin, rules)).rejects.toMatchObject({ reason: 'email_taken' });
    const omar = { ...lin, subject: '1002', email: 'omar@work.example' };
    const made = await take({ ...omar, issuer: 'https://hub.example' });
    expect(await find(omar, rules)).toMatchObject({ by: 'linked', account: { id: made.account.id } });
  });

  it('is never that of somebody with the same address, unless the operator said so for its domain (T-089)', async () => {
    const namesake = { ...lin, email: ada.email };
    await expect(find(namesake)).rejects.toMatchObject({ reason: 'email_taken' });
    const [, domain = ''] = ada.email.split('@');
    await expect(find(namesake, { linkByVerifiedEmail: ['other.example'] })).rejects.toMatchObject({
      reason: 'email_taken',
    });
    const linked = await take(namesake, { linkByVerifiedEmail: [domain.toUpperCase()] });
    expect(linked).toMatchObject({ by: 'linked', account: { id: ada.id } });
    // Whoever has the address next is somebody else.
    await expect(
      find({ ...namesake, subject: '1002' }, { linkByVerifiedEmail: [domain] }),
    ).rejects.toMatchObject({ reason: 'linked_to_another' });
  });

  it('has an address without mail where the upstream has verified none', async () => {
    const { email: _none, ...unverified } = lin;
    const first = await take(unverified);
    expect(first.account.email).toMatch(/^[a-z0-9]{8,16}@work\.invalid$/);
    expect((await take({ ...unverified, subject: '1002' })).account.email).not.toBe(first.account.email);
    const odd = await take({ ...lin, subject: '1003', email: 'two words@work.example' });
    expect(odd.account.email).toMatch(/@work\.invalid$/);
  });

  it('is not made where the operator wants none made', async () => {
    await expect(find(lin, { create: false })).rejects.toMatchObject({ reason: 'accounts_not_created' });
  });

  it('is nobody’s while it is disabled', async () => {
    const { account: made } = await take(lin);
    await storage.accounts.setDisabled(made.id, startOfTime);
    await expect(find(lin)).rejects.toMatchObject({ reason: 'account_disabled' });
    await storage.accounts.setDisabled(ada.id, startOfTime);
    const [, domain = ''] = ada.email.split('@');
    await expect(
      find({ ...lin, subject: '1002', email: ada.email }, { linkByVerifiedEmail: [domain] }),
    ).rejects.toMatchObject({ reason: 'account_disabled' });
  });
});
