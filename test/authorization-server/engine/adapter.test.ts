import { describe, expect, it } from 'vitest';
import { grantKey, payloadContext } from '../../../src/authorization-server/engine/stored-rows.ts';
import { commitWrites } from '../../../src/authorization-server/engine/write-set.ts';
import { acrOfUpstreamSession } from '../../../src/authorization-server/upstream-login/login-acr.ts';
import { hashSecret, keyedDigest } from '../../../src/crypto/secret.ts';
import { accessTokenRetentionSeconds, usedRetentionSeconds } from '../../../src/storage/artifacts.ts';
import { startOfTime } from '../../storage/contract/subject.ts';
import { commit, link, upstreamSession } from '../../storage/contract/upstream.ts';
import { startAdapters } from '../storage-subject.ts';

const grant = { accountId: 'ada', clientId: 'c' };

describe('an adapter', () => {
  it('keeps a row under the hash of its value and its payload sealed to that row (T-194)', async () => {
    const { storage, box, adapter } = await startAdapters();
    const payload = { accountId: 'ada', clientId: 'c', jti: 'the-value' };
    await adapter('AccessToken').upsert('the-value', payload, 60);
    const id = hashSecret('AccessToken', 'the-value');
    const row = await storage.artifacts.find('AccessToken', id);
    expect(Buffer.from(row?.payload ?? []).toString('latin1')).not.toContain('ada');
    expect(JSON.parse(box.open(row?.payload ?? new Uint8Array(), payloadContext('AccessToken', id)))).toEqual(
      payload,
    );
    expect(await adapter('AccessToken').find('the-value')).toEqual(payload);
    expect(await adapter('AccessToken').find(id)).toBeUndefined();
  });

  it('finds nothing of another kind under the same value (T-031)', async () => {
    const { adapter } = await startAdapters();
    await adapter('RefreshToken').upsert('x', { jti: 'x' }, 60);
    for (const kind of ['AccessToken', 'AuthorizationCode', 'Session', 'Interaction'])
      expect(await adapter(kind).find('x')).toBeUndefined();
    expect(await adapter('RefreshToken').findByUserCode('x')).toBeUndefined();
  });

  it('finds sessions by their uid', async () => {
    const { adapter } = await startAdapters();
    await adapter('Session').upsert('x', { jti: 'x', uid: 'u', accountId: 'ada' }, 60);
    expect(await adapter('Session').findByUid('u')).toMatchObject({ jti: 'x' });
    expect(await adapter('Session').findByUid('v')).toBeUndefined();
  });

  it('hangs a login in a browser on the login at an upstream it came through, while its acr says so (A10-02)', async () => {
    const { storage, adapter } = await startAdapters();
    await commit(storage, link('l'), upstreamSession('s', 'l'));
    const login = { accountId: 'ada', acr: acrOfUpstreamSession('s') };
    await adapter('Session').upsert('through', login, 60);
    await adapter('Session').upsert('switched', login, 60);
    await adapter('Session').upsert('switched', { accountId: 'ada' }, 60);
    await adapter('Session').upsert('by another acr', { accountId: 'ada', acr: 'urn:other:s' }, 60);
    await adapter('RefreshToken').upsert('not a login', login, 60);
    await storage.upstreams.endLink('l', { revoke: false });
    expect(await adapter('Session').find('through')).toBeUndefined();
    for (const value of ['switched', 'by another acr'])
      expect(await adapter('Session').find(value)).toBeDefined();
    expect(await adapter('RefreshToken').find('not a login')).toBeDefined();
    await expect(adapter('Session').upsert('late', login, 60)).rejects.toThrow('orphan');
  });

  it('shows what was used up, refresh tokens after the grace window only (T-043)', async () => {
    const { adapter, clock } = await startAdapters(120);
    for (const kind of ['AuthorizationCode', 'RefreshToken']) {
      await adapter(kind).upsert('x', { jti: 'x' }, 600);
      await adapter(kind).consume('x');
    }
    const used = async (kind: string) => (await adapter(kind).find('x'))?.consumed;
    expect(await used('AuthorizationCode')).toBe(startOfTime);
    expect(await used('RefreshToken')).toBeUndefined();
    clock.now += 120;
    expect(await used('RefreshToken')).toBe(startOfTime);
    clock.now = startOfTime - 3600;
    expect(await used('RefreshToken')).toBe(startOfTime);
  });

  it('stores the time at which a token is used', async () => {
    const { storage, adapter } = await startAdapters();
    await adapter('RefreshToken').upsert('used', { jti: 'used' }, 600);
    await adapter('RefreshToken').consume('used');
    const row = await storage.artifacts.find('RefreshToken', hashSecret('RefreshToken', 'used'));
    expect(row?.consumedAt).toBe(startOfTime);
  });

  it('does not know a code from the future (T-037)', async () => {
    const { adapter, clock } = await startAdapters();
    await adapter('AuthorizationCode').upsert('x', { jti: 'x', iat: startOfTime }, 60);
    clock.now -= 60;
    expect(await adapter('AuthorizationCode').find('x')).toBeDefined();
    clock.now -= 1;
    expect(await adapter('AuthorizationCode').find('x')).toBeUndefined();
  });

  it('reads in a request what the request has written, and others do not', async () => {
    const { storage, adapter } = await startAdapters();
    await commitWrites(storage.artifacts, async () => {
      await adapter('Session').upsert('x', { jti: 'x', uid: 'u' }, 60);
      expect(await adapter('Session').find('x')).toMatchObject({ jti: 'x' });
      expect(await storage.artifacts.find('Session', hashSecret('Session', 'x'))).toBeUndefined();
      await adapter('Session').destroy('x');
      expect(await adapter('Session').find('x')).toBeUndefined();
      return true;
    });
    expect(await adapter('Session').find('x')).toBeUndefined();
  });

  it('hangs tokens on their grant, which takes them along', async () => {
    const { storage, adapter } = await startAdapters();
    await adapter('Grant').upsert('g', grant, 60);
    await adapter('AccessToken').upsert('x', { jti: 'x', grantId: 'g' }, 60);
    expect(await adapter('Grant').find('g')).toEqual(grant);
    expect(await storage.artifacts.findGrant(grantKey('g'))).toBeDefined();
    await adapter('AccessToken').revokeByGrantId('g');
    expect(await adapter('Grant').find('g')).toBeUndefined();
    expect(await adapter('AccessToken').find('x')).toBeUndefined();
    await expect(adapter('AccessToken').upsert('y', { jti: 'y', grantId: 'g' }, 60)).rejects.toThrow(
      'refused: orphan',
    );
  });

  it('refuses a grant of nobody', async () => {
    const { adapter } = await startAdapters();
    await expect(adapter('Grant').upsert('g', {}, 60)).rejects.toThrow('names its account and its client');
  });

  it('hangs a session on its account and an interaction on whoever logs in there (T-103)', async () => {
    const { storage, adapter } = await startAdapters();
    await adapter('Session').upsert('s', { jti: 's', accountId: 'ada' }, 60);
    await adapter('Interaction').upsert('i', { jti: 'i', result: { login: { accountId: 'ada' } } }, 60);
    await adapter('Interaction').upsert('j', { jti: 'j', session: { accountId: 'ada' } }, 60);
    await adapter('Interaction').upsert('k', { jti: 'k' }, 60);
    await storage.accounts.setPassword('ada', 'another');
    expect(await adapter('Session').find('s')).toBeUndefined();
    expect(await adapter('Interaction').find('i')).toBeUndefined();
    expect(await adapter('Interaction').find('j')).toBeUndefined();
    expect(await adapter('Interaction').find('k')).toBeDefined();
  });

  it('keeps clients sealed, and removes them with what was issued to them', async () => {
    const { storage, adapter } = await startAdapters();
    await adapter('Client').upsert(
      'c',
      { client_id: 'c', client_secret: 's3cret', client_id_issued_at: 7 },
      0,
    );
    const row = await storage.clients.find('c');
    expect(row?.createdAt).toBe(7);
    expect(Buffer.from(row?.payload ?? []).toString('latin1')).not.toContain('s3cret');
    expect(await adapter('Client').find('c')).toMatchObject({ client_secret: 's3cret' });
    await adapter('Grant').upsert('g', grant, 60);
    await adapter('Client').destroy('c');
    expect(await adapter('Client').find('c')).toBeUndefined();
    expect(await adapter('Grant').find('g')).toBeUndefined();
  });
});

describe('a user code', () => {
  it('finds its device code, under a digest with a key, which may be one of former times (T-029, T-194)', async () => {
    const { storage, adapter } = await startAdapters();
    const codes = adapter('DeviceCode');
    await codes.upsert('x', { jti: 'x', userCode: 'BCDFGHJK' }, 600);
    expect(await codes.findByUserCode('BCDFGHJK')).toMatchObject({ jti: 'x' });
    expect(await codes.findByUserCode('BCDFGHJL')).toBeUndefined();
    for (const name of ['BCDFGHJK', hashSecret('DeviceCode', 'BCDFGHJK')])
      expect(await storage.artifacts.findByUid('DeviceCode', name)).toBeUndefined();
    const old = keyedDigest('an old key', 'user code', 'CDFGHJKL');
    await adapter('Session').upsert('y', { jti: 'y', uid: old }, 600);
    expect(await codes.findByUserCode('CDFGHJKL')).toBeUndefined();
    const { artifacts } = storage;
    const row = await artifacts.find('DeviceCode', hashSecret('DeviceCode', 'x'));
    await artifacts.commit([
      {
        type: 'put',
        kind: 'DeviceCode',
        id: hashSecret('DeviceCode', 'x'),
        payload: row?.payload ?? new Uint8Array(),
        expiresAt: startOfTime + 600,
        uid: old,
      },
    ]);
    expect(await codes.findByUserCode('CDFGHJKL')).toMatchObject({ jti: 'x' });
  });

  it('is claimed once: of two requests that write to one device code the second is refused (T-029)', async () => {
    const { storage, adapter } = await startAdapters();
    const codes = adapter('DeviceCode');
    await codes.upsert('x', { jti: 'x', userCode: 'BCDFGHJK' }, 600);
    const claim = () =>
      commitWrites(storage.artifacts, async () => {
        const found = await codes.findByUserCode('BCDFGHJK');
        await codes.upsert('x', { ...found, inFlight: true }, 600);
        return true;
      });
    const results = await Promise.all([claim(), claim(), claim()]);
    expect(results.filter(({ result }) => result.committed)).toHaveLength(1);
    const [refused] = results.flatMap(({ result }) => (result.committed ? [] : [result.conflict]));
    expect(refused).toMatchObject({ reason: 'changed', kind: 'DeviceCode' });
  });
});

describe('a pushed authorization request', () => {
  it('is kept, used or not, as long as its pages may wait for an answer (T-030)', async () => {
    const { storage, adapter } = await startAdapters();
    await adapter('PushedAuthorizationRequest').upsert('x', { jti: 'x' }, 60);
    const id = hashSecret('PushedAuthorizationRequest', 'x');
    const row = await storage.artifacts.find('PushedAuthorizationRequest', id);
    expect(row?.expiresAt).toBe(startOfTime + 60 + 7200);
  });
});

describe('an access token', () => {
  it('has a row that stays after its end, by which a waiting stream learns of a revocation (A12-04)', async () => {
    const { storage, adapter } = await startAdapters();
    await adapter('AccessToken').upsert('x', { jti: 'x', ...grant }, 60);
    const row = await storage.artifacts.find('AccessToken', hashSecret('AccessToken', 'x'));
    expect(row?.expiresAt).toBe(startOfTime + 60 + accessTokenRetentionSeconds);
  });
});

describe('a code', () => {
  it('has a row that stays from the start as long as that of a used one has to (T-032)', async () => {
    const { storage, adapter } = await startAdapters();
    await adapter('AuthorizationCode').upsert('x', { jti: 'x', ...grant }, 60);
    const row = await storage.artifacts.find('AuthorizationCode', hashSecret('AuthorizationCode', 'x'));
    expect(row?.expiresAt).toBe(startOfTime + 60 + usedRetentionSeconds);
  });
});
