import { describe, expect, it } from 'vitest';
import {
  commitWrites,
  currentWriteSet,
  WriteSet,
} from '../../../src/authorization-server/engine/write-set.ts';
import type { ArtifactStore, Change } from '../../../src/storage/artifacts.ts';
import { artifact, payload } from '../../storage/contract/subject.ts';

/** A store that remembers what was committed. */
function startStore(result: Awaited<ReturnType<ArtifactStore['commit']>> = { committed: true }) {
  const commits: (readonly Change[])[] = [];
  const store = {
    commit: async (changes: readonly Change[]) => {
      commits.push([...changes]);
      return result;
    },
  } as Partial<ArtifactStore> as ArtifactStore;
  return { store, commits };
}

describe('a write set', () => {
  it('keeps changes in their order, and of several writes of a row the last, in the place of the first', () => {
    const writes = new WriteSet();
    writes.put(artifact('a'), 'none');
    writes.add({ type: 'consume', kind: 'RefreshToken', id: 'b', at: 1 });
    writes.put(artifact('a', { payload: payload('again') }), 'none');
    expect(writes.changes).toEqual([
      artifact('a', { payload: payload('again') }),
      { type: 'consume', kind: 'RefreshToken', id: 'b', at: 1 },
    ]);
  });

  it('tells what is written or removed in it, and nothing else', () => {
    const writes = new WriteSet();
    expect(writes.pending('RefreshToken', 'a')).toBeUndefined();
    writes.put(artifact('a'), 'none');
    expect(writes.pending('RefreshToken', 'a')).toEqual(artifact('a'));
    expect(writes.pending('AccessToken', 'a')).toBeUndefined();
    writes.remove('RefreshToken', 'a', 'none');
    expect(writes.pending('RefreshToken', 'a')).toBe('removed');
    writes.put(artifact('a'), 'none');
    expect(writes.changes.map(({ type }) => type)).toEqual(['put', 'remove', 'put']);
  });

  it('lets a refused request note what it used up, and end things, and nothing else (T-042, T-049)', () => {
    const writes = new WriteSet();
    writes.put(artifact('token'), 'none');
    writes.put(artifact('jti', { kind: 'ReplayDetection' }), 'absent');
    writes.add({ type: 'consume', kind: 'RefreshToken', id: 'used', at: 1 });
    writes.add({ type: 'removeGrant', id: 'g' });
    writes.dropWrites();
    expect(writes.changes).toEqual([
      artifact('jti', { kind: 'ReplayDetection', ifAbsent: true }),
      { type: 'removeGrant', id: 'g' },
    ]);
  });

  it('binds guarded writes to the row that was read, and new rows to nothing (T-028, T-166)', () => {
    const writes = new WriteSet();
    for (const id of ['unchanged', 'present', 'none']) writes.noteRow('RefreshToken', id, 3, undefined);
    writes.put(artifact('unchanged'), 'unchanged');
    writes.put(artifact('present'), 'present');
    writes.put(artifact('none'), 'none');
    writes.put(artifact('new'), 'unchanged');
    writes.remove('RefreshToken', 'unchanged', 'unchanged');
    writes.remove('RefreshToken', 'never read', 'unchanged');
    writes.remove('RefreshToken', 'none', 'none');
    expect(writes.changes).toEqual([
      artifact('unchanged', { ifRevision: 3 }),
      artifact('present', { ifPresent: true }),
      artifact('none'),
      artifact('new'),
      { type: 'remove', kind: 'RefreshToken', id: 'unchanged', mustExist: true },
      { type: 'remove', kind: 'RefreshToken', id: 'never read', mustExist: false },
      { type: 'remove', kind: 'RefreshToken', id: 'none', mustExist: false },
    ]);
  });

  it('remembers the grants of rows that were read', () => {
    const writes = new WriteSet();
    writes.noteRow('RefreshToken', 'a', 0, 'g');
    expect(writes.grantOf('RefreshToken', 'a')).toBe('g');
    expect(writes.grantOf('RefreshToken', 'b')).toBeUndefined();
  });

  it('of a refused request keeps what it ends, and nothing it would give (T-042)', () => {
    const writes = new WriteSet();
    writes.put(artifact('a'), 'none');
    writes.add({ type: 'consume', kind: 'RefreshToken', id: 'b', at: 1 });
    writes.remove('RefreshToken', 'c', 'none');
    expect(writes.endsGrant).toBe(false);
    writes.add({ type: 'removeGrant', id: 'g' });
    expect(writes.endsGrant).toBe(true);
    writes.dropWrites();
    expect(writes.changes.map(({ type }) => type)).toEqual(['remove', 'removeGrant']);
  });
});

describe('a request with a write set', () => {
  it('commits once, at its end, what all its parts have collected (T-164, T-165)', async () => {
    const { store, commits } = startStore();
    const { result } = await commitWrites(store, async (writes) => {
      writes.put(artifact('a'), 'none');
      await Promise.resolve();
      currentWriteSet()?.put(artifact('b'), 'none');
      expect(currentWriteSet()).toBe(writes);
      expect(commits).toEqual([]);
      return true;
    });
    expect(result).toEqual({ committed: true });
    expect(commits).toEqual([[artifact('a'), artifact('b')]]);
    expect(currentWriteSet()).toBeUndefined();
  });

  it('that failed for our own fault commits nothing', async () => {
    const { store, commits } = startStore();
    await commitWrites(store, async (writes) => {
      writes.put(artifact('a'), 'none');
      return false;
    });
    await expect(
      commitWrites(store, async (writes) => {
        writes.put(artifact('a'), 'none');
        throw new Error('fault');
      }),
    ).rejects.toThrow('fault');
    expect(commits).toEqual([]);
  });

  it('never sees the writes of another one at the same time', async () => {
    const { store, commits } = startStore();
    await Promise.all(
      ['a', 'b'].map((id) =>
        commitWrites(store, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          currentWriteSet()?.put(artifact(id), 'none');
          await new Promise((resolve) => setImmediate(resolve));
          return true;
        }),
      ),
    );
    expect(commits).toEqual([[artifact('a')], [artifact('b')]]);
  });

  it('is told which conflict refused its commit', async () => {
    const conflict = { committed: false, conflict: { reason: 'orphan', kind: 'AccessToken' } } as const;
    const { store } = startStore(conflict);
    expect((await commitWrites(store, async () => true)).result).toEqual(conflict);
  });
});
