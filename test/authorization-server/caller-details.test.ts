import { describe, expect, it } from 'vitest';
import { createAccessTokenSource } from '../../src/authorization-server/access-tokens.ts';
import { describeCallers } from '../../src/authorization-server/caller-details.ts';
import { payloadContext } from '../../src/authorization-server/engine/stored-rows.ts';
import { hashSecret } from '../../src/crypto/secret.ts';
import { createVault } from '../../src/upstream/vault.ts';
import { account, startOfTime } from '../storage/contract/subject.ts';
import { commit, issuer } from '../storage/contract/upstream.ts';
import { startAdapters } from './storage-subject.ts';

const identity = {
  issuer,
  subject: 'ada there',
  email: 'ada@example.com',
  name: 'Ada',
  claims: { email: 'ada@example.com', groups: ['staff'], roles: 'admin', department: 'R&D', secret: 'x' },
};

/** A token of a person, described, with everything that is read for it counted. */
async function start(claims: Record<string, unknown> = {}) {
  const { storage, box, adapter, clock } = await startAdapters();
  const now = () => clock.now;
  const vault = createVault(box, now);
  let reads = 0;
  const counting = {
    ...storage,
    accounts: {
      ...storage.accounts,
      find(id: string) {
        reads++;
        return storage.accounts.find(id);
      },
    },
  };
  const settings = { callerClaims: ['department', 'absent'] };
  const source = describeCallers(
    createAccessTokenSource(storage, box, { issuer: 'https://as.example.com', signing: [] }),
    {
      storage: counting,
      upstreams: { find: () => ({ settings }) as never },
      vault,
      documents: { recall: async () => ({ client_name: 'Documented' }) as never },
      box,
      now,
    },
  );
  const putClient = (name: string, id = 'c') =>
    storage.clients.put({
      id,
      payload: box.seal(JSON.stringify({ client_name: name }), payloadContext('Client', id)),
      createdAt: startOfTime,
      origin: 'operator',
    });
  await putClient('Notes');
  await adapter('Grant').upsert('g', { accountId: 'ada', clientId: 'c' }, 600);
  await adapter('AccessToken').upsert(
    'value',
    {
      clientId: 'c',
      accountId: 'ada',
      grantId: 'g',
      extra: { auth_time: startOfTime - 5, amr: ['pwd', 'otp', 'mfa'] },
    },
    600,
  );
  async function logInAtUpstream(): Promise<void> {
    const login = vault.changesOfLogin({
      upstream: { name: 'work' },
      accountId: 'ada',
      identity: { ...identity, claims: { ...identity.claims, ...claims } },
      tokens: { accessToken: 'a' } as never,
    });
    await commit(
      storage,
      { type: 'linkIdentity', issuer, subject: identity.subject, accountId: 'ada', at: startOfTime },
      ...login.changes,
      { type: 'bindGrant', id: hashSecret('Grant', 'g'), upstreamSessionId: login.sessionId },
    );
  }
  const details = async (token = 'value') => (await source.find(token))?.details;
  return { storage, adapter, clock, source, details, putClient, logInAtUpstream, reads: () => reads };
}

describe('the details of a caller', () => {
  it('contain address, client and login of an account with a password; absent values are absent', async () => {
    const { details } = await start();
    expect(await details()).toEqual({
      email: account('ada').email,
      emailVerified: false,
      client: { name: 'Notes', kind: 'operator' },
      authTime: startOfTime - 5,
      amr: ['pwd', 'otp', 'mfa'],
    });
  });

  it('contain the identity at the upstream of the login, with groups, roles and the selected claims only', async () => {
    const { details, logInAtUpstream } = await start();
    await logInAtUpstream();
    expect(await details()).toMatchObject({
      email: 'ada@example.com',
      emailVerified: true,
      displayName: 'Ada',
      upstream: {
        name: 'work',
        issuer,
        subject: 'ada there',
        groups: ['staff'],
        roles: ['admin'],
        claims: { department: 'R&D' },
      },
    });
    expect(JSON.stringify(await details())).not.toContain('secret');
  });

  it.each([
    ['longer than 200 names', Array.from({ length: 201 }, (_, index) => `g${index}`)],
    ['with something that is no name', ['staff', { id: 1 }]],
    ['that is empty', []],
  ])('leave out a list of groups %s, because part of it would look complete', async (_what, groups) => {
    const { details, logInAtUpstream } = await start({ groups });
    await logInAtUpstream();
    expect((await details())?.upstream).not.toHaveProperty('groups');
  });

  it('name the client of a metadata document as the document was fetched last', async () => {
    const { adapter, details } = await start();
    const clientId = 'https://app.example/client.json';
    await adapter('AccessToken').upsert('other', { clientId, accountId: 'ada', grantId: 'g' }, 600);
    expect((await details('other'))?.client).toEqual({ name: 'Documented', kind: 'metadata_document' });
  });

  it('contain only the client if a client acts for itself', async () => {
    const { adapter, details } = await start();
    await adapter('ClientCredentials').upsert('own', { clientId: 'c' }, 600);
    expect(await details('own')).toEqual({ client: { name: 'Notes', kind: 'operator' } });
  });

  it('are read once a minute: a warm call queries nothing, and unchanged details keep the same token', async () => {
    const { source, clock, putClient, reads } = await start();
    const first = await source.find('value');
    expect(await source.find('value')).toBe(first);
    expect(reads()).toBe(1);
    clock.now += 60;
    expect(await source.find('value')).toBe(first);
    expect(reads()).toBe(2);
    await putClient('Renamed');
    expect((await source.find('value'))?.details?.client?.name).toBe('Notes');
    clock.now += 60;
    expect((await source.find('value'))?.details?.client?.name).toBe('Renamed');
  });

  it('end with the token at once when the account is removed', async () => {
    const { source, storage } = await start();
    expect(await source.find('value')).toBeDefined();
    await storage.accounts.remove('ada');
    expect(await source.find('value')).toBeUndefined();
  });
});
