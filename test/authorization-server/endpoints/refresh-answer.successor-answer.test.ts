import { describe, expect, it } from 'vitest';
import { findSuccessorAnswer } from '../../../src/authorization-server/endpoints/refresh-answer.ts';
import { successorOf, type WithSuccessor } from '../../../src/authorization-server/engine/successors.ts';
import { hashSecret } from '../../../src/crypto/secret.ts';
import type { ArtifactUse } from '../../../src/storage/artifacts.ts';
import { startOfTime } from '../../storage/contract/subject.ts';
import { startAdapters } from '../storage-subject.ts';

const graceSeconds = 120;
const issuedAtMs = startOfTime * 1_000 + 7;

/** A refresh token that was used, and the two tokens that followed it. */
async function follow(dated: Pick<ArtifactUse, 'successorsAtMs'> = { successorsAtMs: issuedAtMs }) {
  const { storage, box, adapter } = await startAdapters();
  const granted = { accountId: 'ada', clientId: 'c', grantId: 'g' };
  await adapter('Grant').upsert('g', granted, 600);
  await adapter('RefreshToken').upsert('used', { ...granted, kind: 'RefreshToken' }, 600);
  const used = (await adapter('RefreshToken').find('used')) as WithSuccessor | undefined;
  const successor = used?.successor ?? '';
  await adapter('RefreshToken').consume('used', { at: startOfTime, ...dated });
  const values = {
    access_token: successorOf('AccessToken', successor, issuedAtMs),
    refresh_token: successorOf('RefreshToken', successor, issuedAtMs),
  };
  await adapter('RefreshToken').upsert(values.refresh_token, { ...granted, kind: 'RefreshToken' }, 600);
  const issued = { ...granted, scope: 'a b', exp: startOfTime + 100 };
  await adapter('AccessToken').upsert(values.access_token, issued, 100);
  const answer = { ...values, expires_in: 100, scope: 'a b', token_type: 'Bearer' };
  const find = (nowSeconds: number, scope = 'a b', keyThumbprint?: string, seconds = graceSeconds) => {
    const id = hashSecret('RefreshToken', 'used');
    const attempt = { answer: { ...answer, scope }, keyThumbprint };
    return findSuccessorAnswer(storage.artifacts, box, id, attempt, nowSeconds, seconds);
  };
  return { storage, adapter, values, answer, find };
}

describe('the answer with the successors of a refresh token', () => {
  it('is given until the window is over, with what is left of its life, and never less than a second (T-165)', async () => {
    const { answer, find } = await follow();
    expect(await find(startOfTime)).toEqual(answer);
    expect(await find(startOfTime + 40)).toEqual({ ...answer, expires_in: 60 });
    expect(await find(startOfTime + 119)).toEqual({ ...answer, expires_in: 1 });
    expect(await find(startOfTime + 120)).toBeUndefined();
    expect(await find(startOfTime - 61)).toBeUndefined();
    for (const seconds of [0, -5])
      expect(await find(startOfTime + seconds, 'a b', undefined, 0)).toBeUndefined();
  });

  it('is given without the access token where that has expired and is gone', async () => {
    const { adapter, values, answer, find } = await follow();
    await adapter('AccessToken').destroy(values.access_token);
    expect(await find(startOfTime + 110)).toEqual({ ...answer, expires_in: 1 });
  });

  it('is not given for other scopes, nor to the holder of a key (A13-09)', async () => {
    const { find } = await follow();
    expect(await find(startOfTime, 'a')).toBe('other_scopes');
    expect(await find(startOfTime, 'a b', 'key')).toBe('other_key');
  });

  it('is not given where another token followed, nor after the grant has ended (T-044)', async () => {
    const { adapter, values, find } = await follow();
    await adapter('RefreshToken').destroy(values.refresh_token);
    expect(await find(startOfTime)).toBeUndefined();
    for (const dated of [{ successorsAtMs: issuedAtMs + 1 }, {}])
      expect(await (await follow(dated)).find(startOfTime)).toBeUndefined();
    const ended = await follow();
    await ended.adapter('Grant').destroy('g');
    expect(await ended.find(startOfTime)).toBeUndefined();
  });
});
