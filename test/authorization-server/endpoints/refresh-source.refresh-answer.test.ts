import { describe, expect, it } from 'vitest';
import { findAnswer, keepAnswer } from '../../../src/authorization-server/endpoints/refresh-source.ts';
import { grantKey } from '../../../src/authorization-server/engine/stored-rows.ts';
import { startOfTime } from '../../storage/contract/subject.ts';
import { startAdapters } from '../storage-subject.ts';

const answer = {
  access_token: 'the access token',
  refresh_token: 'the refresh token',
  token_type: 'Bearer',
  expires_in: 100,
  scope: 'a b',
};

async function keep() {
  const { storage, box, adapter } = await startAdapters();
  await adapter('Grant').upsert('g', { accountId: 'ada', clientId: 'c' }, 60);
  const change = keepAnswer(box, {
    id: 'used',
    grantId: grantKey('g'),
    answer,
    keyThumbprint: 'key',
    nowSeconds: startOfTime,
    graceSeconds: 120,
  });
  await storage.artifacts.commit([change]);
  const find = (nowSeconds: number, scope = 'a b', keyThumbprint: string | undefined = 'key') =>
    findAnswer(storage.artifacts, box, 'used', { answer: { ...answer, scope }, keyThumbprint }, nowSeconds);
  return { storage, box, adapter, change, find };
}

describe('the answer to a refresh', () => {
  it('is kept sealed (T-194)', async () => {
    const { change } = await keep();
    expect(Buffer.from(change.payload).toString('latin1')).not.toContain('token');
  });

  it('is given until the window is over, with its remaining life of at least a second (T-043, T-044)', async () => {
    const { find } = await keep();
    expect(await find(startOfTime)).toEqual(answer);
    expect(await find(startOfTime + 40)).toEqual({ ...answer, expires_in: 60 });
    expect(await find(startOfTime + 119)).toEqual({ ...answer, expires_in: 1 });
    expect(await find(startOfTime + 120)).toBeUndefined();
  });

  it('is not given for other scopes', async () => {
    const { find } = await keep();
    expect(await find(startOfTime, 'a')).toBe('other_scopes');
  });

  it('is not given to the holder of another key, nor to one of none (A13-09)', async () => {
    const { storage, box, find } = await keep();
    expect(await find(startOfTime, 'a b', 'another')).toBe('other_key');
    const bearer = { answer, keyThumbprint: undefined };
    expect(await findAnswer(storage.artifacts, box, 'used', bearer, startOfTime)).toBe('other_key');
  });

  it('is not given to another token, nor after the grant has ended (T-044)', async () => {
    const { storage, box, adapter, find } = await keep();
    expect(
      await findAnswer(storage.artifacts, box, 'another', { answer, keyThumbprint: 'key' }, startOfTime),
    ).toBeUndefined();
    await adapter('Grant').destroy('g');
    expect(await find(startOfTime)).toBeUndefined();
  });
});
