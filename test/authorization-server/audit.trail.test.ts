import { describe, expect, it, vi } from 'vitest';
import { type AuditTrailOptions, createAuditTrail } from '../../src/authorization-server/audit.ts';
import { commitWrites } from '../../src/authorization-server/engine/write-set.ts';
import type { ArtifactStore, Change } from '../../src/storage/artifacts.ts';
import type { AuditEntry } from '../../src/storage/audit.ts';

function startTrail(append?: AuditTrailOptions['store']['append']) {
  const written: AuditEntry[][] = [];
  const errors: string[] = [];
  const trail = createAuditTrail({
    store: { append: append ?? (async (entries) => void written.push([...entries])) },
    logger: {
      error: (_details: object, text: string) => void errors.push(text),
    } as AuditTrailOptions['logger'],
    now: () => 1000,
  });
  return { trail, written, errors };
}

/** A store that takes every commit, or none, and keeps what it was given. */
function startStore(committed: boolean) {
  const commits: (readonly Change[])[] = [];
  const store = {
    commit: async (changes: readonly Change[]) => {
      commits.push(changes);
      return committed
        ? { committed }
        : { committed, conflict: { reason: 'missing', kind: 'Grant', id: 'g' } };
    },
  } as unknown as ArtifactStore;
  return { store, commits };
}

describe('the audit trail', () => {
  it('of a request is written with its commit, and said when that is done (T-197)', async () => {
    const { trail, written } = startTrail();
    const { store, commits } = startStore(true);
    const said: string[] = [];
    await commitWrites(store, async () => {
      trail.note('token.issued', { clientId: 'c', accountId: undefined }, () => said.push('token.issued'));
      expect(said).toEqual([]);
      return true;
    });
    expect(commits).toEqual([
      [{ type: 'audit', entry: { at: 1000, event: 'token.issued', details: { clientId: 'c' } } }],
    ]);
    expect(said).toEqual(['token.issued']);
    await trail.close();
    expect(written).toEqual([]);
  });

  it('has what a request began and did not wait for, though its commit is done (T-197)', async () => {
    const { trail, written } = startTrail();
    const { store, commits } = startStore(true);
    const said: string[] = [];
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    let later: Promise<void> | undefined;
    await commitWrites(store, async () => {
      later = answered.then(() => trail.note('definition.changed', {}, () => said.push('said')));
      return true;
    });
    answer();
    await later;
    await trail.close();
    expect([commits, said]).toEqual([[[]], ['said']]);
    expect(written).toEqual([[{ at: 1000, event: 'definition.changed', details: {} }]]);
  });

  it.each([
    ['is not committed', false, true],
    ['failed for our own fault', true, false],
  ])('says nothing of a request that %s', async (_why, committed, keep) => {
    const { trail } = startTrail();
    const said: string[] = [];
    await commitWrites(startStore(committed).store, async () => {
      trail.note('consent.granted', {}, () => said.push('consent.granted'));
      return keep;
    });
    expect(said).toEqual([]);
  });

  it('of anything else is said at once and written right behind, many together', async () => {
    const { trail, written } = startTrail();
    const said: string[] = [];
    for (const event of ['a', 'b', 'c']) trail.note(event, {}, () => said.push(event));
    expect([said, written]).toEqual([['a', 'b', 'c'], []]);
    await trail.close();
    expect(written.map((entries) => entries.map(({ event }) => event))).toEqual([['a', 'b', 'c']]);
  });

  it('has the first of what anybody can cause at once and the others as a number; all are said (T-197)', async () => {
    const { trail, written } = startTrail();
    const said: string[] = [];
    const refuse = (requestId: string) =>
      trail.tally('token.refused', { address: 'a', clientId: undefined, requestId }, () =>
        said.push(requestId),
      );
    refuse('r1');
    await vi.waitFor(() => expect(written).toHaveLength(1));
    const { store, commits } = startStore(true);
    await commitWrites(store, async () => {
      refuse('r2');
      return true;
    });
    refuse('r3');
    await trail.close();
    expect([commits, said]).toEqual([[[]], ['r1', 'r2', 'r3']]);
    expect(written.flat()).toEqual([
      { at: 1000, event: 'token.refused', details: { address: 'a', requestId: 'r1' } },
      { at: 1000, event: 'token.refused', details: { address: 'a', times: '2' } },
    ]);
  });

  it.each([
    ['is not committed', false, true],
    ['failed for our own fault', true, false],
  ])('keeps and says what anybody can cause of a request that %s (T-197)', async (_why, committed, keep) => {
    const { trail, written } = startTrail();
    const said: string[] = [];
    await commitWrites(startStore(committed).store, async () => {
      trail.tally('login.failed', { accountId: 'ada' }, () => said.push('login.failed'));
      return keep;
    });
    await trail.close();
    expect(said).toEqual(['login.failed']);
    expect(written.flat()).toEqual([{ at: 1000, event: 'login.failed', details: { accountId: 'ada' } }]);
  });

  it('that is closed counts nothing any more: each event is written at once', async () => {
    const { trail, written } = startTrail();
    await trail.close();
    for (const requestId of ['r1', 'r2']) {
      trail.tally('token.refused', { requestId });
      await Promise.resolve();
    }
    await trail.close();
    expect(written.flat().map(({ details }) => details)).toEqual([{ requestId: 'r1' }, { requestId: 'r2' }]);
  });

  it('goes on where the database takes nothing for a while, and says so', async () => {
    const { trail, errors } = startTrail(async () => {
      throw new Error('no disk');
    });
    trail.note('a', {});
    await trail.close();
    trail.note('b', {});
    await trail.close();
    expect(errors).toHaveLength(2);
  });

  it('under a flood keeps the newest ten thousand', async () => {
    const { trail, written } = startTrail();
    for (let n = 0; n < 10_500; n++) trail.note(String(n), {});
    await trail.close();
    expect([written[0]?.length, written[0]?.[0]?.event]).toEqual([10_000, '500']);
  });
});
