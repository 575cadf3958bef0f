import { describe, expect, it } from 'vitest';
import type { PutArtifact } from '../../../../src/storage/artifacts.ts';
import { createArtifactCache } from '../../../../src/storage/sqlite/stores/artifact-cache.ts';

const put = (id: string, more: Partial<PutArtifact> = {}): PutArtifact => ({
  type: 'put',
  kind: 'RefreshToken',
  id,
  payload: Buffer.from(id),
  expiresAt: 9,
  ...more,
});

/** The memory, and a way to change the mark of all kinds. */
function subject() {
  let mark = 0;
  const memory = createArtifactCache(() => mark);
  const keep = (...changes: PutArtifact[]): void => memory.expect(changes)(true);
  return { memory, keep, changeMark: () => void mark++ };
}

describe('new artifacts', () => {
  it('are found as they were written, as often as one asks, each under its own kind', () => {
    const { memory, keep } = subject();
    keep(put('t'), put('c', { kind: 'AuthorizationCode' }));
    const row = { id: 't', payload: Buffer.from('t'), revision: 0, expiresAt: 9 };
    expect([memory.find('RefreshToken', 't'), memory.find('RefreshToken', 't')]).toEqual([row, row]);
    expect(memory.find('AuthorizationCode', 'c')).toMatchObject({ id: 'c' });
    expect(memory.find('AuthorizationCode', 't')).toBeUndefined();
  });

  it('are not kept before their commit, nor after one that failed, nor where they were used up or one of the kind changed while it ran (T-036)', () => {
    const { memory, changeMark } = subject();
    const commits = ['whole', 'failed', 'used', 'changed'].map((id) => memory.expect([put(id)]));
    expect(memory.find('RefreshToken', 'whole')).toBeUndefined();
    memory.forget('RefreshToken', 'used');
    const [whole, failed, used, changed] = commits;
    whole?.(true);
    failed?.(false);
    used?.(true);
    const found = (id: string) => memory.find('RefreshToken', id) !== undefined;
    expect(['whole', 'failed', 'used'].map(found)).toEqual([true, false, false]);
    changeMark();
    changed?.(true);
    expect(found('changed')).toBe(false);
  });

  it('are forgotten one by one as they are used up, and all at once where any was removed or changed (T-043)', () => {
    const { memory, keep, changeMark } = subject();
    keep(put('t'), put('u'));
    memory.forget('RefreshToken', 't');
    expect(memory.find('RefreshToken', 't')).toBeUndefined();
    expect(memory.find('RefreshToken', 'u')).toBeDefined();
    changeMark();
    expect(memory.find('RefreshToken', 'u')).toBeUndefined();
  });

  it('are two thousand at most, the newest, and none of other kinds or above 4 KB', () => {
    const { memory, keep } = subject();
    for (let index = 0; index <= 2000; index++) keep(put(`t${index}`));
    expect(memory.find('RefreshToken', 't0')).toBeUndefined();
    expect(memory.find('RefreshToken', 't1')).toBeDefined();
    keep(put('a', { kind: 'AccessToken' }), put('long', { payload: Buffer.alloc(4097) }));
    expect(memory.find('AccessToken', 'a')).toBeUndefined();
    expect(memory.find('RefreshToken', 'long')).toBeUndefined();
  });
});
