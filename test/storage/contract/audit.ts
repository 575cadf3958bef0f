import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/storage/audit.ts';
import { artifact, type OpenStorage, openForTest, startOfTime } from './subject.ts';

const entry = (event: string, details: Record<string, string> = {}, at = startOfTime): AuditEntry => ({
  at,
  event,
  details,
});
const all = { limit: 10_000 };

/** What every storage does with the audit log. */
export function describeAudit(open: OpenStorage): void {
  describe('the audit log', () => {
    it('keeps entries in their order, each with the hash of the one before', async () => {
      const { audit } = await openForTest(open);
      await audit.append([entry('a', { accountId: 'ada' }), entry('b')]);
      await audit.append([entry('c')]);
      const rows = await audit.read(all);
      expect(rows.map(({ seq, event }) => [seq, event])).toEqual([
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ]);
      expect(JSON.parse(rows[0]?.details ?? '')).toEqual({ accountId: 'ada' });
      expect(rows.map(({ previous }) => previous)).toEqual(['', rows[0]?.hash, rows[1]?.hash]);
      const { start, head } = await audit.ends();
      expect([start, head?.seq, head?.hash]).toEqual([undefined, 3, rows[2]?.hash]);
    });

    it('takes an entry with the commit it is about, or not at all (T-197)', async () => {
      const { artifacts, audit } = await openForTest(open);
      const committed = await artifacts.commit([artifact('t'), { type: 'audit', entry: entry('kept') }]);
      const refused = await artifacts.commit([
        { type: 'audit', entry: entry('refused') },
        { type: 'remove', kind: 'RefreshToken', id: 'gone', mustExist: true },
      ]);
      expect([committed.committed, refused.committed]).toEqual([true, false]);
      expect((await audit.read(all)).map(({ event }) => event)).toEqual(['kept']);
    });

    it('is one chain, whoever writes at the same moment', async () => {
      const { artifacts, audit } = await openForTest(open);
      await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          n % 2
            ? audit.append([entry(`a${n}`)])
            : artifacts.commit([{ type: 'audit', entry: entry(`b${n}`) }]),
        ),
      );
      const rows = await audit.read(all);
      expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
      expect(rows.slice(1).every(({ previous }, n) => previous === rows[n]?.hash)).toBe(true);
    });

    it('is read by event, family of events, account, client and time, from either end', async () => {
      const { audit } = await openForTest(open);
      await audit.append([
        entry('login.failed', { accountId: 'ada' }, 100),
        entry('login.succeeded', { accountId: 'ada', clientId: 'c' }, 200),
        entry('token.issued', { accountId: 'grace', clientId: 'c' }, 300),
      ]);
      const find = async (query: object): Promise<number[]> =>
        (await audit.read({ ...all, ...query })).map(({ seq }) => seq);
      expect(await find({ event: 'login.failed' })).toEqual([1]);
      expect(await find({ event: 'login.' })).toEqual([1, 2]);
      expect(await find({ event: '*' })).toEqual([]);
      expect(await find({ accountId: 'ada' })).toEqual([1, 2]);
      expect(await find({ clientId: 'c', accountId: 'grace' })).toEqual([3]);
      expect(await find({ since: 200, until: 300 })).toEqual([2]);
      expect(await find({ after: 1, limit: 1 })).toEqual([2]);
      expect(await find({ newestFirst: true, limit: 2 })).toEqual([3, 2]);
    });

    it('drops its oldest rows by age and by number, and says where it begins', async () => {
      const { audit } = await openForTest(open);
      await audit.append(Array.from({ length: 1200 }, (_, n) => entry('e', {}, n)));
      const seventh = (await audit.read({ after: 6, limit: 1 }))[0];
      expect(await audit.prune({ before: 7, maxRows: 2000 })).toBe(7);
      expect((await audit.ends()).start).toMatchObject({ seq: 7, hash: seventh?.hash });
      expect(await audit.prune({ before: 0, maxRows: 100 })).toBe(1093);
      expect(await audit.prune({ before: 0, maxRows: 100 })).toBe(0);
      expect((await audit.read(all)).map(({ seq }) => seq).at(0)).toBe(1101);
      await audit.append([entry('later')]);
      expect((await audit.ends()).head?.seq).toBe(1201);
    });

    it('goes on behind its last row when all rows were dropped', async () => {
      const { audit } = await openForTest(open);
      await audit.append([entry('a'), entry('b')]);
      expect(await audit.prune({ before: startOfTime + 1, maxRows: 10 })).toBe(2);
      await audit.append([entry('c')]);
      expect((await audit.read(all)).map(({ seq, event }) => [seq, event])).toEqual([[3, 'c']]);
    });
  });
}
