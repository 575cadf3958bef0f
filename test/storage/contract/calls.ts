import { describe, expect, it, onTestFinished } from 'vitest';
import { type CallChainFault, checkCallChain, digestCalls } from '../../../src/crypto/call-chain.ts';
import {
  type CallCursor,
  type CallEntry,
  type CallHour,
  type CallQuery,
  type CallRow,
  type CallStore,
  callColumns,
  chainedValues,
  droppedAtOnce,
} from '../../../src/storage/calls.ts';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { auditKey, call, calls, startMs } from './call.ts';

/** A database for the ledger of an installation, which several nodes open. */
export interface CallPlace {
  open: () => CallStore;
  /** Runs a statement behind the back of the nodes. */
  execute: (sql: string) => Promise<void> | void;
}

/** Creates an empty ledger for the running test. */
export type CreateCallPlace = () => Promise<CallPlace> | CallPlace;

const hourMs = 3_600_000;

/** A time after all others in these tests. */
const lastMs = 3 * startMs;

/** Appends calls as one batch. */
export function append(store: CallStore, entries: readonly CallEntry[], nowMs = startMs): Promise<unknown> {
  return store.append({ calls: entries, lost: 0 }, nowMs, false);
}

/** Opens a place as a node does, for the running test. */
function openNode(place: CallPlace): CallStore {
  const store = place.open();
  onTestFinished(() => store.close());
  return store;
}

async function openStore(create: CreateCallPlace): Promise<CallStore> {
  return openNode(await create());
}

/** Verifies a ledger as an operator does. */
export async function verify(
  store: CallStore,
  anchors: ReadonlyMap<number, string> = new Map(),
): Promise<CallChainFault[]> {
  const { start, head } = await store.ends();
  const checking = checkCallChain(auditKey, start, anchors);
  let { batch, lastSeq } = start ?? { batch: 0, lastSeq: 0 };
  for (let isEnd = false; !isEnd; ) {
    const seals = await store.seals(batch, 100);
    for (const seal of seals) {
      const rows = (await store.read({ afterSeq: lastSeq }, Math.max(seal.lastSeq - lastSeq, 0))).filter(
        ({ seq }) => seq <= seal.lastSeq,
      );
      checking.add(seal, { digest: digestCalls(rows.map(chainedValues)), calls: rows.length });
      ({ batch, lastSeq } = seal);
    }
    isEnd = seals.length === 0;
  }
  return checking.finish(head);
}

const everything: CallQuery = {};
const requestsOf = (rows: readonly CallRow[]): string[] => rows.map(({ requestId }) => requestId);

/** What every storage does with the call ledger. */
export function describeCalls(create: CreateCallPlace): void {
  describe('the call ledger', () => {
    it('holds all columns of a call as they were given', async () => {
      const store = await openStore(create);
      const full: CallEntry = {
        ...call(1),
        ...{ grant: 'grant', backend: 'files', credential: 'github', definition: 'hash of definition' },
        ...{ argumentsHash: 'hash', argumentNames: 'a,ü', arguments: Uint8Array.of(0, 255, 92, 34) },
        ...{ outcome: 'error', code: -32_603, reason: 'backend_lost', cached: true, retried: true },
        ...{ actor: '["proxy","agent"]', generation: 3, waitMs: 5_000_000_000 },
        ...{ traceId: '0af7651916cd43dd8448eb211c80319c', target: 'a "b"\\{c,d} NULL \u{1F600}' },
        ...{ ms: 4_000_000_000, bytesIn: 5_000_000_000, bytesOut: 2 ** 53 - 1 },
      };
      const bare = call(2);
      await append(store, [full, bare]);
      const [first, second] = await store.read(everything, 10);
      const bytes = first?.arguments && Uint8Array.from(first.arguments);
      expect({ ...first, arguments: bytes }).toEqual({ ...full, seq: 1 });
      expect(second).toEqual({ ...bare, seq: 2 });
      expect(Object.keys(callColumns).sort()).toEqual(Object.keys(first ?? {}).sort());
      expect(await verify(store)).toEqual([]);
    });

    it('holds texts that a database would change as it stores them, so that their seal stays true', async () => {
      const store = await openStore(create);
      await append(store, [
        call(1, { target: 'half a pair \uD83D', reason: 'with \0 NUL', client: '\uDE00' }),
      ]);
      expect(await store.read(everything, 10)).toMatchObject([
        { target: 'half a pair \uFFFD', reason: 'with \uFFFD NUL', client: '\uFFFD' },
      ]);
      expect(await verify(store)).toEqual([]);
    });

    it('is empty at first, and has no ends', async () => {
      const store = await openStore(create);
      expect(await store.ends()).toEqual({ start: undefined, head: undefined });
      expect(await store.seals(0, 10)).toEqual([]);
      expect(await store.list(everything, 10)).toEqual([]);
      expect(await store.count(everything, { by: [], limit: 10, withTimes: true })).toEqual([]);
      expect(await store.prune({ nowMs: lastMs, before: startMs, maxRows: 0, hoursBefore: startMs })).toBe(0);
      expect(await verify(store)).toEqual([]);
    });

    it('seals batches in a chain, also empty ones that say what is missing', async () => {
      const store = await openStore(create);
      const first = await store.append({ calls: calls(3), lost: 0 }, startMs, true);
      const second = await store.append({ calls: [], lost: 2 }, startMs + 1, false);
      await store.beat('ended', 1);
      const third = await store.recordEnd('ended', startMs + 2);
      const fourth = await store.append({ calls: calls(1), lost: 1 }, startMs + 3, false);
      expect([first, second, third, fourth]).toMatchObject([
        { batch: 1, at: startMs, lastSeq: 3, calls: 3, lost: 0, gap: null },
        { batch: 2, at: startMs + 1, lastSeq: 3, calls: 0, lost: 2, gap: null },
        { batch: 3, at: startMs + 2, lastSeq: 3, calls: 0, lost: 0, gap: 'ended' },
        { batch: 4, at: startMs + 3, lastSeq: 4, calls: 1, lost: 1, gap: null },
      ]);
      expect(await store.seals(0, 10)).toEqual([first, second, third, fourth]);
      expect(await store.seals(1, 2)).toEqual([second, third]);
      const { start, head } = await store.ends();
      expect([start, head]).toMatchObject([undefined, { batch: 4, lastSeq: 4, mac: fourth.mac }]);
      expect(await verify(store, new Map([[2, second.mac]]))).toEqual([]);
      expect(await verify(store, new Map([[2, first.mac]]))).toEqual([{ batch: 2, fault: 'other_anchor' }]);
    });

    it.each<[string, string, CallChainFault]>([
      ['a changed call', 'UPDATE calls SET ms = ms + 1 WHERE seq = 3', { batch: 2, fault: 'calls_changed' }],
      [
        'a call that was given an actor',
        'UPDATE calls SET actor = account WHERE seq = 3',
        { batch: 2, fault: 'calls_changed' },
      ],
      ['a removed call', 'DELETE FROM calls WHERE seq = 3', { batch: 2, fault: 'calls_changed' }],
      ['a removed last call', 'DELETE FROM calls WHERE seq = 6', { batch: 3, fault: 'calls_changed' }],
      [
        'a changed seal',
        'UPDATE call_seals SET lost = lost + 1 WHERE batch = 2',
        { batch: 2, fault: 'seal_changed' },
      ],
      ['a removed seal', 'DELETE FROM call_seals WHERE batch = 2', { batch: 2, fault: 'missing' }],
      [
        'a removed newest batch',
        'DELETE FROM call_seals WHERE batch = 3; DELETE FROM calls WHERE seq > 4',
        { batch: 3, fault: 'cut_off' },
      ],
      [
        'a head that was set back',
        `DELETE FROM call_seals WHERE batch = 3; DELETE FROM calls WHERE seq > 4;
         UPDATE call_ends SET batch = 2, last_seq = 4, mac = (SELECT mac FROM call_seals WHERE batch = 2)
           WHERE name = 'head'`,
        { batch: 2, fault: 'head_forged' },
      ],
      [
        'oldest batches that were removed as if they had been dropped',
        `DELETE FROM call_seals WHERE batch = 1; DELETE FROM calls WHERE seq <= 2;
         DELETE FROM call_ends WHERE name = 'start';
         INSERT INTO call_ends SELECT 'start', 1, 2, mac, proof FROM call_ends WHERE name = 'head'`,
        { batch: 1, fault: 'start_forged' },
      ],
    ])('is found changed by its chain: %s', async (_title, sql, fault) => {
      const place = await create();
      const store = openNode(place);
      for (let batch = 0; batch < 3; batch++) await append(store, calls(2));
      expect(await verify(store)).toEqual([]);
      await place.execute(sql);
      expect(await verify(store)).toContainEqual(fault);
    });

    it('is found empty if all of it was removed, by what the audit log holds', async () => {
      const place = await create();
      const store = openNode(place);
      const { mac } = await store.append({ calls: calls(2), lost: 0 }, startMs, false);
      await place.execute('DELETE FROM calls; DELETE FROM call_seals; DELETE FROM call_ends');
      expect(await verify(store, new Map([[1, mac]]))).toEqual([{ batch: 1, fault: 'cut_off' }]);
    });

    it('is listed with the newest call first, by its arrival', async () => {
      const store = await openStore(create);
      await append(store, [call(3), call(1)]);
      await append(store, [call(2), call(3, { requestId: 'same time, later' })]);
      expect(requestsOf(await store.list(everything, 10))).toEqual([
        ...['same time, later', 'request-3', 'request-2', 'request-1'],
      ]);
      expect(requestsOf(await store.read({ afterSeq: 1 }, 2))).toEqual(['request-1', 'request-2']);
    });

    it('is read by each filter, and by all of them at once', async () => {
      const store = await openStore(create);
      const wanted = {
        ...{
          account: 'bob',
          client: 'cli',
          route: '/files',
          backend: 'disk',
          target: 'read',
          method: 'prompts/get',
        },
        ...{ outcome: 'refused', reason: 'scope', revision: '2026-07-28', requestId: 'r', traceId: 't' },
        argumentsHash: 'h',
      } as const satisfies Partial<CallEntry> & CallQuery;
      const filters = Object.entries(wanted) as [keyof typeof wanted, string][];
      const others = filters.map(([name, value], index) => call(index + 10, { [name]: value }));
      await append(store, [call(1), ...others, call(2, wanted), call(3)]);
      for (const [name, value] of filters) {
        const found = await store.list({ [name]: value }, 100);
        expect([name, requestsOf(found).length]).toEqual([name, 2]);
        expect(found.every((row) => row[name] === value)).toBe(true);
      }
      const all = { ...wanted, since: startMs + 2, until: startMs + 3, afterSeq: 5 };
      expect(requestsOf(await store.list(all, 100))).toEqual(['r']);
      expect(requestsOf(await store.read(all, 100))).toEqual(['r']);
      expect(await store.list({ ...all, since: startMs + 3 }, 100)).toEqual([]);
      expect(await store.list({ ...all, until: startMs + 2 }, 100)).toEqual([]);
      expect(await store.list({ ...all, afterSeq: 99 }, 100)).toEqual([]);
      expect(await store.list({ ...all, untilSeq: 2 }, 100)).toEqual([]);
      expect(requestsOf(await store.read({ afterSeq: 1, untilSeq: 3 }, 100))).toEqual([
        'request-10',
        'request-11',
      ]);
      expect(requestsOf(await store.list({ outcome: 'ok', until: startMs + 4 }, 100))).toEqual([
        ...['request-3', 'request-1'],
      ]);
    });

    it('is paged without gaps or doubles, also while calls are appended', async () => {
      const store = await openStore(create);
      const shown = calls(60, (number) => ({ at: startMs + Math.floor(number / 7) }));
      await append(store, shown);
      const seen: string[] = [];
      let before: CallCursor | undefined;
      for (let added = 1_000; ; added++) {
        const page = await store.list({ account: 'ada' }, 9, before);
        seen.push(...requestsOf(page));
        before = page.at(-1);
        if (page.length < 9) break;
        await append(store, [call(added)]);
      }
      expect(seen).toEqual(shown.map(({ requestId }) => requestId).reverse());
    });

    it('counts calls by columns, the most frequent first', async () => {
      const store = await openStore(create);
      await append(store, [
        ...calls(6, (number) => ({ backend: 'disk', account: `account ${number % 3}` })),
        ...calls(3, (number) => ({ at: startMs + 50, outcome: number === 1 ? 'refused' : 'error' })),
        call(90, { backend: 'mail', outcome: 'tool_error', bytesOut: 7, ms: 40 }),
      ]);
      expect(await store.count(everything, { by: ['backend', 'method'], limit: 2 })).toEqual([
        {
          group: { backend: 'disk', method: 'tools/call' },
          ...{ calls: 6, failed: 0, refused: 0, accounts: 3, firstAt: startMs + 1, lastAt: startMs + 6 },
          bytesOut: 600,
        },
        {
          group: { backend: null, method: 'tools/call' },
          ...{ calls: 3, failed: 2, refused: 1, accounts: 1, firstAt: startMs + 50, lastAt: startMs + 50 },
          bytesOut: 300,
        },
      ]);
      expect(await store.count({ since: startMs + 50 }, { by: [], limit: 10 })).toEqual([
        {
          group: {},
          ...{ calls: 4, failed: 3, refused: 1, accounts: 1, firstAt: startMs + 50, lastAt: startMs + 90 },
          bytesOut: 307,
        },
      ]);
    });

    it('computes the times that 50, 95 and 99 of a hundred calls of a group did not exceed', async () => {
      const store = await openStore(create);
      await append(store, [...calls(200), ...calls(3, () => ({ backend: 'one', ms: 9 }))]);
      const counted = await store.count(everything, { by: ['backend'], limit: 10, withTimes: true });
      expect(counted.map(({ group, times }) => [group.backend, times])).toEqual([
        [null, { p50: 100, p95: 190, p99: 198 }],
        ['one', { p50: 9, p95: 9, p99: 9 }],
      ]);
      const one = { by: ['target', 'backend'], limit: 1, withTimes: true } as const;
      expect(await store.count({ backend: 'one' }, one)).toMatchObject([
        { times: { p50: 9, p95: 9, p99: 9 } },
      ]);
      const all = await store.count(everything, { by: [], limit: 10, withTimes: true });
      expect(all).toMatchObject([{ calls: 203, times: { p50: 99, p95: 190, p99: 198 } }]);
    });

    it('sums calls by hour and group over batches', async () => {
      const store = await openStore(create);
      const late = { at: startMs + hourMs, ms: 40_000 };
      await append(store, [call(1, { ms: 5 }), call(2, { ms: 6 }), call(3, late)]);
      await append(store, [call(4, { ms: 5, bytesOut: 1 }), call(5, { ms: 6, backend: 'x', target: null })]);
      const hour = {
        ...{ hour: startMs, route: '/', backend: '', method: 'tools/call', target: 'add_note' },
        ...{ client: 'app', outcome: 'ok' },
      };
      const buckets = (counts: Record<number, number>): number[] =>
        Array.from({ length: 13 }, (_, index) => counts[index] ?? 0);
      expect(await store.hours(startMs, startMs + hourMs, 10)).toEqual([
        { ...hour, calls: 3, ms: 16, bytesOut: 201, buckets: buckets({ 0: 2, 1: 1 }) },
        { ...hour, backend: 'x', target: '', calls: 1, ms: 6, bytesOut: 100, buckets: buckets({ 1: 1 }) },
      ]);
      expect(await store.hours(startMs + 1, startMs + 2 * hourMs, 10)).toEqual([
        { ...hour, hour: startMs + hourMs, calls: 1, ms: 40_000, bytesOut: 100, buckets: buckets({ 12: 1 }) },
      ]);
    });

    it('returns the sums of hours in pages without gaps or doubles', async () => {
      const store = await openStore(create);
      const names = ['', 'a', 'ä', 'Z'];
      await append(store, [
        ...names.flatMap((backend) => names.map((client) => call(1, { backend, client }))),
        call(1, { at: startMs + hourMs }),
      ]);
      const all = await store.hours(startMs, startMs + 2 * hourMs, 100);
      expect(all).toHaveLength(17);
      const seen: CallHour[] = [];
      for (let page = all.slice(0, 0); ; ) {
        page = await store.hours(startMs, startMs + 2 * hourMs, 4, page.at(-1));
        seen.push(...page);
        if (page.length < 4) break;
      }
      expect(seen).toEqual(all);
    });

    it('drops whole batches from the front by time, and verifies from there', async () => {
      const store = await openStore(create);
      for (let batch = 0; batch < 5; batch++) await append(store, calls(2), startMs + batch);
      await append(
        store,
        calls(1, () => ({ at: startMs + hourMs })),
        startMs + 5,
      );
      expect(
        await store.prune({ nowMs: lastMs, before: startMs + 2, maxRows: 100, hoursBefore: startMs }),
      ).toBe(4);
      expect(requestsOf(await store.read(everything, 1))).toEqual(['request-1']);
      const { start, head } = await store.ends();
      expect([start, head]).toMatchObject([
        { batch: 2, lastSeq: 4 },
        { batch: 6, lastSeq: 11 },
      ]);
      expect(await verify(store)).toEqual([]);
      expect(await store.hours(0, startMs + 1, 10)).toHaveLength(1);
      expect(
        await store.prune({
          nowMs: lastMs,
          before: startMs + 99,
          maxRows: 100,
          hoursBefore: startMs + hourMs,
        }),
      ).toBe(7);
      expect(await store.read(everything, 10)).toEqual([]);
      expect(await store.hours(0, startMs + 2 * hourMs, 10)).toMatchObject([{ hour: startMs + hourMs }]);
      expect(await verify(store)).toEqual([]);
      await append(store, calls(2), startMs + 100);
      expect((await store.read(everything, 10)).map(({ seq }) => seq)).toEqual([12, 13]);
      expect(await verify(store)).toEqual([]);
    });

    it('drops old batches although newer ones have a time in the future, from a clock that was ahead', async () => {
      const store = await openStore(create);
      const aheadMs = startMs + 400 * 24 * hourMs;
      await append(store, calls(1), startMs);
      for (let batch = 0; batch < droppedAtOnce.batches + 1; batch++) await append(store, [], aheadMs);
      await append(store, calls(1), startMs + 1);
      await append(store, calls(1), aheadMs);
      const retention = { maxRows: 100, hoursBefore: 0, nowMs: startMs + 10 };
      expect(await store.prune({ ...retention, before: startMs + 1 })).toBe(1);
      expect(await store.seals(0, 1)).toMatchObject([{ batch: 2, at: aheadMs }]);
      // No later batch tells how old the last one is.
      expect(await store.prune({ ...retention, before: startMs + 2 })).toBe(1);
      expect(await store.read(everything, 10)).toMatchObject([{ seq: 3 }]);
      expect(await verify(store)).toEqual([]);
    });

    it('drops whole batches until it has at most the number of calls that is kept', async () => {
      const store = await openStore(create);
      for (let batch = 0; batch < 4; batch++) await append(store, calls(3));
      expect(await store.prune({ nowMs: lastMs, before: 0, maxRows: 12, hoursBefore: 0 })).toBe(0);
      expect(await store.prune({ nowMs: lastMs, before: 0, maxRows: 8, hoursBefore: 0 })).toBe(6);
      expect(await verify(store)).toEqual([]);
    });

    it('drops many batches in one call, and two nodes that do it at once drop none twice', async () => {
      const place = await create();
      const nodes = [openNode(place), openNode(place)];
      const [node = nodes[0] as CallStore] = nodes;
      for (let batch = 0; batch < 8; batch++) await append(node, calls(250));
      for (let batch = 0; batch < 20; batch++) await append(node, []);
      await append(node, calls(1), startMs + 10);
      const retention = { nowMs: lastMs, before: startMs + 1, maxRows: 10_000, hoursBefore: 0 };
      const dropped = await Promise.all(nodes.map((each) => each.prune(retention)));
      expect(dropped.reduce((sum, count) => sum + count)).toBe(2_000);
      expect(await node.list(everything, 10)).toHaveLength(1);
      expect(await verify(node)).toEqual([]);
    });

    it('is one chain without gaps, whichever nodes append at the same moment', async () => {
      const place = await create();
      const nodes = [openNode(place), openNode(place)];
      await Promise.all(
        nodes.map(async (node, index) => {
          for (let batch = 0; batch < 50; batch++)
            await append(node, [call(batch, { account: `${index}` }), call(batch, { account: `${index}` })]);
        }),
      );
      const [node = nodes[0] as CallStore] = nodes;
      const rows = await node.read(everything, 1_000);
      expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
      for (const account of ['0', '1'])
        expect(rows.filter((row) => row.account === account).map(({ requestId }) => requestId)).toEqual(
          Array.from({ length: 50 }, (_, batch) => [`request-${batch}`, `request-${batch}`]).flat(),
        );
      expect(await node.hours(0, startMs + hourMs, 10)).toMatchObject([{ calls: 200 }]);
      expect(await verify(node)).toEqual([]);
    });

    it('does not take a batch whose place in the chain is taken, and leaves nothing of it', async () => {
      const place = await create();
      const store = openNode(place);
      await append(store, calls(2));
      await place.execute("DELETE FROM call_ends WHERE name = 'head'");
      await expect(append(store, calls(2))).rejects.toThrow(StorageUnavailable);
      expect(await store.read(everything, 10)).toHaveLength(2);
    });

    it('fails by itself, and is whole again once its tables are', async () => {
      const place = await create();
      const store = openNode(place);
      await append(store, calls(2));
      await place.execute('ALTER TABLE calls RENAME TO lost_calls');
      await expect(store.list(everything, 1)).rejects.toThrow(StorageUnavailable);
      await expect(store.count(everything, { by: [], limit: 1 })).rejects.toThrow(StorageUnavailable);
      await expect(append(store, calls(1))).rejects.toThrow(StorageUnavailable);
      await expect(
        store.prune({ nowMs: lastMs, before: 2 * startMs, maxRows: 0, hoursBefore: 0 }),
      ).rejects.toThrow(StorageUnavailable);
      await place.execute('ALTER TABLE lost_calls RENAME TO calls');
      await append(store, calls(1));
      expect(await store.read(everything, 10)).toHaveLength(3);
      expect(await verify(store)).toEqual([]);
    });

    it('notes the processes that write, until they leave', async () => {
      const store = await openStore(create);
      expect(await store.beat('a', 1)).toEqual([]);
      expect(await store.beat('b', 2)).toEqual([{ writer: 'a', beatAt: 1 }]);
      expect(await store.beat('b', 3)).toEqual([{ writer: 'a', beatAt: 1 }]);
      expect(await store.beat('a', 4)).toEqual([{ writer: 'b', beatAt: 3 }]);
      await store.leave('b');
      expect(await store.beat('a', 5)).toEqual([]);
    });

    it('records the end of a process once, in the commit that removes its note', async () => {
      const place = await create();
      const [one, other] = [openNode(place), openNode(place)];
      await one.beat('ended', 1);
      const seals = await Promise.all([one.recordEnd('ended', 2), other.recordEnd('ended', 2)]);
      expect(seals.filter((seal) => seal)).toMatchObject([{ batch: 1, calls: 0, gap: 'ended' }]);
      expect(await one.beat('looking', 3)).toEqual([]);
      expect(await verify(other)).toEqual([]);
    });

    it('is read from a position of its own; one of another ledger counts as none', async () => {
      const store = await openStore(create);
      await append(store, calls(3));
      const { ledger, calls: all } = await store.readNext({ ledger: '', calls: 2 }, 2);
      expect(ledger).toMatch(/^[0-9a-f]{16}$/);
      expect(all.map(({ seq }) => seq)).toEqual([1, 2]);
      const next = await store.readNext({ ledger, calls: 2 }, 2);
      expect(next).toMatchObject({ ledger, calls: [{ seq: 3 }] });
    });
  });
}
