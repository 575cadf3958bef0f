import { describe, expect, it } from 'vitest';
import {
  type ArtifactStore,
  accessTokenRetentionSeconds,
  type PutArtifact,
  usedRetentionSeconds,
} from '../../../src/storage/artifacts.ts';
import { account, artifact, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

const committed = { committed: true };

async function openArtifacts(open: OpenStorage): Promise<ArtifactStore> {
  const { accounts, artifacts } = await openForTest(open);
  await accounts.add(account('ada'));
  return artifacts;
}

/** What every store of artifacts does with single rows. */
export function describeArtifacts(open: OpenStorage): void {
  describe('artifacts', () => {
    it('are found by kind and id, or by kind and uid, expired or not', async () => {
      const artifacts = await openArtifacts(open);
      await artifacts.commit([artifact('s', { kind: 'Session', uid: 'u', expiresAt: 5 })]);
      const row = { id: 's', payload: expect.anything(), revision: 0, expiresAt: 5 };
      expect(await artifacts.find('Session', 's')).toEqual(row);
      expect(await artifacts.findByUid('Session', 'u')).toEqual(row);
      expect(await artifacts.find('RefreshToken', 's')).toBeUndefined();
      expect(await artifacts.findByUid('Interaction', 'u')).toBeUndefined();
      expect(await artifacts.find('Session', 'u')).toBeUndefined();
    });

    it('have a revision to ask for, and can be asked for together, expired or not', async () => {
      const artifacts = await openArtifacts(open);
      const ids = Array.from({ length: 600 }, (_, index) => `id "${index}"`);
      await artifacts.commit(ids.map((id) => artifact(id, { kind: 'AccessToken', expiresAt: 5 })));
      await artifacts.commit([artifact('id "0"', { kind: 'AccessToken' }), artifact('r')]);
      expect(await artifacts.findRevision('AccessToken', 'id "0"')).toBe(1);
      expect(await artifacts.findRevision('AccessToken', 'id "1"')).toBe(0);
      expect(await artifacts.findRevision('AccessToken', 'r')).toBeUndefined();
      const present = await artifacts.filterPresent('AccessToken', [...ids, 'r', 'never', "' OR 1=1 --"]);
      expect(present.sort()).toEqual([...ids].sort());
      expect(await artifacts.filterPresent('AccessToken', [])).toEqual([]);
    });

    it('change a mark when one of the kind is removed, by itself, with its grant or with its account', async () => {
      const { accounts, artifacts } = await openForTest(open);
      for (const id of ['ada', 'grace']) await accounts.add(account(id));
      const kind = 'AccessToken';
      await artifacts.commit([grant('g'), grant('h', 'grace'), grant('i'), artifact('t', { kind })]);
      for (const id of ['g', 'h', 'i']) await artifacts.commit([artifact(`of ${id}`, { kind, grantId: id })]);
      const marks = [await artifacts.removalMark(kind)];
      expect(await artifacts.removalMark(kind)).toBe(marks[0]);
      for (const remove of [
        () => artifacts.commit([{ type: 'remove', kind, id: 't', mustExist: true }]),
        () => artifacts.commit([{ type: 'removeGrant', id: 'g' }]),
        () => artifacts.revokeGrant('i'),
        () => accounts.remove('grace'),
      ]) {
        await remove();
        marks.push(await artifacts.removalMark(kind));
      }
      expect(new Set(marks).size).toBe(5);
    });

    it('that are new are found as they are after each change: written again, used up, gone with their grant (T-043, T-103)', async () => {
      const artifacts = await openArtifacts(open);
      const kind = 'RefreshToken';
      await artifacts.commit([grant('g'), artifact('t', { grantId: 'g' }), artifact('u', { grantId: 'g' })]);
      expect(await artifacts.find(kind, 't')).toMatchObject({ revision: 0 });
      await artifacts.commit([artifact('t', { grantId: 'g', payload: payload('another') })]);
      expect(await artifacts.find(kind, 't')).toMatchObject({ revision: 1, payload: payload('another') });
      const use = { type: 'consume', kind, id: 'u', at: startOfTime } as const;
      expect(await artifacts.commit([use, artifact('v', { grantId: 'g' })])).toEqual(committed);
      expect(await artifacts.find(kind, 'u')).toMatchObject({ consumedAt: startOfTime });
      expect(await artifacts.commit([use, artifact('w')])).toMatchObject({
        conflict: { reason: 'consumed' },
      });
      expect(await artifacts.find(kind, 'w')).toBeUndefined();
      expect(await artifacts.find(kind, 'v')).toMatchObject({ revision: 0, payload: payload('v') });
      await artifacts.revokeGrant('g');
      for (const id of ['t', 'u', 'v']) expect(await artifacts.find(kind, id)).toBeUndefined();
    });

    it('that are written and used up at once are found used up', async () => {
      const artifacts = await openArtifacts(open);
      const use = { type: 'consume', kind: 'RefreshToken', id: 't', at: startOfTime } as const;
      await Promise.all([artifacts.commit([artifact('t')]), artifacts.commit([use])]);
      expect(await artifacts.find('RefreshToken', 't')).toMatchObject({ consumedAt: startOfTime });
    });

    it('of two kinds may have the same id and are two rows (T-031)', async () => {
      const artifacts = await openArtifacts(open);
      await artifacts.commit([artifact('x'), artifact('x', { kind: 'AccessToken', expiresAt: 7 })]);
      await artifacts.commit([{ type: 'remove', kind: 'RefreshToken', id: 'x', mustExist: true }]);
      expect((await artifacts.find('AccessToken', 'x'))?.expiresAt).toBe(7);
    });

    it('count their writes, and a guarded write needs the revision that was read', async () => {
      const artifacts = await openArtifacts(open);
      const write = (ifRevision?: number) =>
        artifacts.commit([
          artifact('i', { kind: 'Interaction', ...(ifRevision === undefined ? {} : { ifRevision }) }),
        ]);
      expect(await write()).toEqual(committed);
      expect(await write(0)).toEqual(committed);
      const conflict = { committed: false, conflict: { reason: 'changed', kind: 'Interaction', id: 'i' } };
      expect(await write(0)).toEqual(conflict);
      expect((await artifacts.find('Interaction', 'i'))?.revision).toBe(1);
      expect(await write()).toEqual(committed);
      expect((await artifacts.find('Interaction', 'i'))?.revision).toBe(2);
      await artifacts.commit([{ type: 'remove', kind: 'Interaction', id: 'i', mustExist: true }]);
      expect(await write(2)).toEqual(conflict);
    });

    it('that must still be there are not written back to life, and may have changed meanwhile (T-166)', async () => {
      const artifacts = await openArtifacts(open);
      const write = (more: Partial<PutArtifact> = {}) =>
        artifacts.commit([artifact('s', { kind: 'Session', ...more })]);
      await write();
      await write();
      expect(await write({ ifPresent: true })).toEqual(committed);
      expect((await artifacts.find('Session', 's'))?.revision).toBe(2);
      await artifacts.commit([{ type: 'remove', kind: 'Session', id: 's', mustExist: true }]);
      expect(await write({ ifPresent: true })).toEqual({
        committed: false,
        conflict: { reason: 'changed', kind: 'Session', id: 's' },
      });
      expect(await artifacts.find('Session', 's')).toBeUndefined();
    });

    it('that must be new are written once, also by fifty at once, and stay as they were written (T-049)', async () => {
      const artifacts = await openArtifacts(open);
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          artifacts.commit([
            artifact('jti', { kind: 'ReplayDetection', payload: payload(String(at)), ifAbsent: true }),
          ]),
        ),
      );
      expect(results[0]).toEqual(committed);
      const conflict = {
        committed: false,
        conflict: { reason: 'present', kind: 'ReplayDetection', id: 'jti' },
      };
      expect(results.slice(1)).toEqual(Array(49).fill(conflict));
      const row = await artifacts.find('ReplayDetection', 'jti');
      expect([Buffer.from(row?.payload ?? []).toString(), row?.revision]).toEqual(['0', 0]);
    });

    it('of fifty guarded writes at once take exactly one', async () => {
      const artifacts = await openArtifacts(open);
      await artifacts.commit([artifact('i', { kind: 'Interaction' })]);
      const results = await Promise.all(
        Array.from({ length: 50 }, () =>
          artifacts.commit([artifact('i', { kind: 'Interaction', ifRevision: 0 })]),
        ),
      );
      expect(results.filter((result) => result.committed)).toHaveLength(1);
    });

    it('are used up once, whoever else tries, and keep the time and the place of the first (T-036, T-043, T-213)', async () => {
      const artifacts = await openArtifacts(open);
      await artifacts.commit([artifact('t')]);
      const consume = (index: number) => {
        const use = { at: startOfTime + index, usedFrom: `from ${index}` };
        return artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id: 't', ...use }]);
      };
      const results = await Promise.all(Array.from({ length: 50 }, (_, index) => consume(index)));
      const [first, ...rest] = results;
      expect(first).toEqual(committed);
      const conflict = { committed: false, conflict: { reason: 'consumed', kind: 'RefreshToken', id: 't' } };
      expect(new Set(rest.map((result) => JSON.stringify(result)))).toEqual(
        new Set([JSON.stringify(conflict)]),
      );
      expect(await artifacts.find('RefreshToken', 't')).toMatchObject({
        consumedAt: startOfTime,
        usedFrom: 'from 0',
      });
    });

    it('are remembered for a day after they were used up, so that a late replay is noticed (T-032)', async () => {
      const artifacts = await openArtifacts(open);
      await artifacts.commit([artifact('short'), artifact('long', { expiresAt: startOfTime + 900_000 })]);
      for (const id of ['short', 'long'])
        await artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id, at: startOfTime }]);
      const expiry = async (id: string) => (await artifacts.find('RefreshToken', id))?.expiresAt;
      expect([await expiry('short'), await expiry('long')]).toEqual([
        startOfTime + 86_400,
        startOfTime + 900_000,
      ]);
    });

    it('that are gone cannot be used up', async () => {
      const artifacts = await openArtifacts(open);
      expect(await artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id: 'never', at: 1 }])).toEqual(
        { committed: false, conflict: { reason: 'missing', kind: 'RefreshToken', id: 'never' } },
      );
    });

    it('that must be there are removed once; others may be gone already', async () => {
      const artifacts = await openArtifacts(open);
      await artifacts.commit([artifact('t')]);
      const remove = (mustExist: boolean) =>
        artifacts.commit([{ type: 'remove', kind: 'RefreshToken', id: 't', mustExist }]);
      expect((await Promise.all([remove(true), remove(true)])).map((result) => result.committed)).toEqual([
        true,
        false,
      ]);
      expect(await remove(false)).toEqual(committed);
    });

    it('die at the given number of failures, and those that are used up or gone count none (T-035)', async () => {
      const artifacts = await openArtifacts(open);
      const kind = 'AuthorizationCode';
      await artifacts.commit([artifact('c', { kind }), artifact('used', { kind })]);
      await artifacts.commit([{ type: 'consume', kind, id: 'used', at: startOfTime }]);
      const counts = await Promise.all(Array.from({ length: 4 }, () => artifacts.countFailure(kind, 'c', 3)));
      expect(counts).toEqual([1, 2, 3, 0]);
      expect(await artifacts.find(kind, 'c')).toBeUndefined();
      expect(await artifacts.countFailure(kind, 'used', 1)).toBe(0);
      expect(await artifacts.find(kind, 'used')).toBeDefined();
    });
  });

  describe('grants', () => {
    it('are found, written again, and end with all that hangs on them', async () => {
      const artifacts = await openArtifacts(open);
      await artifacts.commit([
        grant('g'),
        grant('h'),
        artifact('t', { grantId: 'g' }),
        artifact('u', { grantId: 'h' }),
      ]);
      await artifacts.commit([{ ...grant('g'), expiresAt: startOfTime + 999 }]);
      expect((await artifacts.findGrant('g'))?.expiresAt).toBe(startOfTime + 999);
      expect(await artifacts.find('RefreshToken', 't')).toBeDefined();
      await artifacts.revokeGrant('g');
      await artifacts.revokeGrant('g');
      expect(await artifacts.findGrant('g')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 't')).toBeUndefined();
      expect(await artifacts.find('RefreshToken', 'u')).toBeDefined();
    });

    it('end with what came to hang on them when it was written again, guarded or not (T-029)', async () => {
      const artifacts = await openArtifacts(open);
      await artifacts.commit([grant('g'), artifact('t'), artifact('u')]);
      await artifacts.commit([
        artifact('t', { grantId: 'g' }),
        artifact('u', { grantId: 'g', ifRevision: 0 }),
      ]);
      await artifacts.commit([artifact('t'), artifact('u', { ifRevision: 1 })]);
      expect(await artifacts.find('RefreshToken', 'u')).toMatchObject({ revision: 2 });
      await artifacts.revokeGrant('g');
      for (const id of ['t', 'u']) expect(await artifacts.find('RefreshToken', id)).toBeUndefined();
    });
  });
}

/** What every store tells of the grants under which something can still be used. */
export function describeLiveGrants(open: OpenStorage): void {
  async function openArtifacts() {
    const { accounts, artifacts } = await openForTest(open);
    for (const id of ['ada', 'grace']) await accounts.add(account(id));
    const idsAt = async (at: number) =>
      (await artifacts.listLiveGrants('ada', 'client', at)).map(({ id }) => id);
    return { artifacts, idsAt };
  }

  describe('the live grants of an account to a client', () => {
    it('are told, the newest first, and none of another account or client (T-103)', async () => {
      const { artifacts } = await openArtifacts();
      const ids = ['short', 'long', 'of another client', 'of another account'];
      await artifacts.commit([
        { ...grant('long'), expiresAt: startOfTime + 500 },
        grant('short'),
        grant('of another client', 'ada', 'another'),
        grant('of another account', 'grace'),
        ...ids.map((id) => artifact(`token ${id}`, { grantId: id })),
      ]);
      const row = (id: string, expiresAt: number) => ({
        id,
        clientId: 'client',
        payload: payload(`grant ${id}`),
        expiresAt,
      });
      expect(await artifacts.listLiveGrants('ada', 'client', startOfTime)).toEqual([
        row('short', startOfTime + 100),
        row('long', startOfTime + 500),
      ]);
      expect(await artifacts.listLiveGrants('nobody', 'client', startOfTime)).toEqual([]);
    });

    it('are told up to a limit, which counts none under which nothing can be used', async () => {
      const { artifacts } = await openArtifacts();
      await artifacts.commit([
        grant('z'),
        { ...grant('m'), expiresAt: startOfTime + 500 },
        ...['a', 'used', 'none'].map((id) => grant(id)),
        ...['z', 'm', 'a', 'used'].map((id) => artifact(`token ${id}`, { grantId: id })),
      ]);
      await artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id: 'token used', at: startOfTime }]);
      const newest = await artifacts.listLiveGrants('ada', 'client', startOfTime, 2);
      expect(newest.map(({ id }) => id)).toEqual(['a', 'm']);
    });

    it('are those that have not expired and were not revoked', async () => {
      const { artifacts, idsAt } = await openArtifacts();
      await artifacts.commit([
        grant('g'),
        grant('h'),
        artifact('of g', { grantId: 'g', expiresAt: startOfTime + 1000 }),
        artifact('of h', { grantId: 'h' }),
      ]);
      await artifacts.revokeGrant('h');
      expect(await idsAt(startOfTime + 99)).toEqual(['g']);
      expect(await idsAt(startOfTime + 100)).toEqual([]);
    });

    it('are not those under which nothing was issued, or all was used up or has expired', async () => {
      const { artifacts, idsAt } = await openArtifacts();
      await artifacts.commit([
        grant('none'),
        grant('used'),
        grant('expired'),
        grant('live'),
        artifact('used', { grantId: 'used' }),
        artifact('expired', { grantId: 'expired', expiresAt: startOfTime + 5 }),
        artifact('first', { grantId: 'live' }),
        artifact('second', { grantId: 'live' }),
      ]);
      for (const id of ['used', 'first'])
        await artifacts.commit([{ type: 'consume', kind: 'RefreshToken', id, at: startOfTime }]);
      expect(await idsAt(startOfTime + 5)).toEqual(['live']);
    });

    it.each([
      ['AuthorizationCode', usedRetentionSeconds],
      ['AccessToken', accessTokenRetentionSeconds],
    ])('are not those of an expired artifact that is kept for longer: %s', async (kind, keptSeconds) => {
      const { artifacts, idsAt } = await openArtifacts();
      const expiresAt = startOfTime + 60 + keptSeconds;
      await artifacts.commit([grant('g'), artifact('a', { kind, grantId: 'g', expiresAt })]);
      expect(await idsAt(startOfTime + 59)).toEqual(['g']);
      expect(await idsAt(startOfTime + 60)).toEqual([]);
    });
  });
}
