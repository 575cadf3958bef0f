import { describe, expect, it } from 'vitest';
import type { McpSessionStore, StoredEvent } from '../../../src/storage/mcp-sessions.ts';
import { session, wide } from './mcp-session.ts';
import { settled } from './nodes.ts';
import { type OpenStorage, openForTest, startOfTime } from './subject.ts';

async function openSessions(open: OpenStorage): Promise<McpSessionStore> {
  return (await openForTest(open)).mcpSessions;
}

/** Opens fifty sessions at once, each of the principal the function gives, and counts the outcomes. */
async function openFifty(
  store: McpSessionStore,
  caps: { maxPerPrincipal: number; maxTotal: number },
  principalOf: (at: number) => string,
): Promise<Record<string, number>> {
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      store.open(session(`session-${at}`, { principal: principalOf(at) }), caps),
    ),
  );
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

const node = (id: string) => ({ id, address: '10.0.0.1:1', version: '1', startedAt: 1, ...settled });

const said = (position: number): StoredEvent => ({ stream: 's', position, data: 'sealed' });

/** What every store of MCP sessions does for each of several nodes. */
export function describeSessionsOfNodes(open: OpenStorage): void {
  describe('MCP sessions of nodes', () => {
    const retention = { maxEvents: 10, maxBytes: 1000 };

    /** Writes everything that a node writes to a session; returns which writes were refused. */
    async function writeAll(store: McpSessionStore, key: string, position: number): Promise<boolean[]> {
      return [
        await store.change(key, { logLevel: `level ${position}` }),
        await store.openStream(key, { stream: `s${position}`, owed: ['1'] }, startOfTime),
        await store.append(key, [said(position)], retention, startOfTime),
      ];
    }

    it('are written by the node that has them alone: of a node that lost one, nothing is stored, whoever has it now', async () => {
      const { mcpSessions, nodes } = await openForTest(open);
      const [a, b] = [mcpSessions.ofNode('a'), mcpSessions.ofNode('b')];
      for (const id of ['a', 'b']) await nodes.beat(node(id));
      await a.open(session('k'), wide);
      expect((await nodes.ownerOf('k'))?.id).toBe('a');
      expect(await writeAll(a, 'k', 1)).toEqual([true, true, true]);
      expect(await writeAll(b, 'k', 2)).toEqual([false, false, false]);

      await nodes.leave('a');
      expect(await nodes.claimSession('k', 'b')).toBe('claimed');
      expect(await writeAll(a, 'k', 3)).toEqual([false, false, false]);
      await a.closeStream('k', 's');
      await a.touch(['k'], startOfTime + 50);
      expect(await b.find('k')).toEqual(session('k', { logLevel: 'level 1' }));
      expect((await b.resume('k', 's', 0))?.events).toEqual([said(1)]);
      expect([await b.resume('k', 's2', 0), await b.resume('k', 's3', 0)]).toEqual([undefined, undefined]);

      await nodes.releaseSessions(['k'], 'b');
      expect(await writeAll(a, 'k', 4)).toEqual([false, false, false]);
      expect(await writeAll(b, 'k', 5)).toEqual([false, false, false]);
      expect(await writeAll(a, 'gone', 6)).toEqual([false, false, false]);
      expect(await writeAll(mcpSessions, 'k', 7)).toEqual([true, true, true]);
    });

    it('are touched by the node that has them, and ended by any', async () => {
      const { mcpSessions } = await openForTest(open);
      const [a, b] = [mcpSessions.ofNode('a'), mcpSessions.ofNode('b')];
      await a.open(session('k'), wide);
      await a.openStream('k', { stream: 's', owed: [] }, startOfTime);
      await b.touch(['k'], startOfTime + 1);
      expect((await a.find('k'))?.usedAt).toBe(startOfTime);
      await a.touch(['k'], startOfTime + 2);
      expect((await b.find('k'))?.usedAt).toBe(startOfTime + 2);
      await a.closeStream('k', 's');
      expect(await a.resume('k', 's', 0)).toBeUndefined();
      expect([await b.end('k'), await a.find('k')]).toEqual([true, undefined]);
    });

    it('are not swept by another node while their own is alive', async () => {
      const { mcpSessions, nodes } = await openForTest(open);
      const [a, b] = [mcpSessions.ofNode('a'), mcpSessions.ofNode('b')];
      await nodes.beat(node('a'));
      await a.open(session('of-a'), wide);
      await a.open(session('kept'), wide);
      await b.open(session('of-b'), wide);
      await mcpSessions.open(session('of-none'), wide);
      await mcpSessions.ofNode('dead').open(session('of-dead'), wide);
      const bounds = { usedBefore: startOfTime + 1, eventsBefore: 0 };
      expect((await b.sweep({ ...bounds, keep: [] })).sort()).toEqual(['of-b', 'of-dead', 'of-none']);
      expect(await a.sweep({ ...bounds, keep: ['kept'] })).toEqual(['of-a']);
      expect(await mcpSessions.filterPresent(['of-a', 'kept'])).toEqual(['kept']);
    });
  });
}

/** What every store of MCP sessions does with the sessions themselves. */
export function describeMcpSessions(open: OpenStorage): void {
  describe('MCP sessions', () => {
    it('are listed, last used first, without what their clients said; those that are there are told from those that are not', async () => {
      const store = await openSessions(open);
      await store.open(session('older', { usedAt: startOfTime }), wide);
      await store.open(session('newer', { usedAt: startOfTime + 5 }), wide);
      const listed = await store.list();
      expect(listed.map(({ key }) => key)).toEqual(['newer', 'older']);
      expect(listed[0]).not.toHaveProperty('initialize');
      expect(await store.filterPresent(['older', 'gone'])).toEqual(['older']);
    });

    it('of this process leave the mark of others as it is while none of them ends', async () => {
      const store = await openSessions(open);
      const mark = await store.othersMark();
      await store.open(session('k'), wide);
      await store.change('k', { isInitialized: true });
      await store.touch(['k'], startOfTime + 9);
      expect(await store.othersMark()).toBe(mark);
    });

    it('are kept with all they are made of, and found by their key alone (B3-10)', async () => {
      const store = await openSessions(open);
      const kept = session('k', {
        principal: '["https://issuer","ada","client"]',
        isInitialized: true,
        logLevel: 'warning',
        subscriptions: ['note://1', "note://'2'\u0000"],
        usedAt: startOfTime + 5,
      });
      expect(await store.open(kept, wide)).toBe('opened');
      expect(await store.find('k')).toEqual(kept);
      expect(await store.find('K')).toBeUndefined();
      expect(await store.find('')).toBeUndefined();
    });

    it('have a key to themselves: a second session under it is refused and the first stays as it is', async () => {
      const store = await openSessions(open);
      await store.open(session('k'), wide);
      await expect(store.open(session('k', { principal: 'grace' }), wide)).rejects.toThrow();
      expect(await store.find('k')).toEqual(session('k'));
      expect(await store.listOf('grace')).toEqual([]);
      const caps = { maxPerPrincipal: 1, maxTotal: 2 };
      expect(await store.open(session('l', { principal: 'grace' }), caps)).toBe('opened');
    });

    it('of a principal are as many as its cap allows, also when fifty open at once (T-144)', async () => {
      const store = await openSessions(open);
      expect(await openFifty(store, { maxPerPrincipal: 7, maxTotal: 1000 }, () => 'ada')).toEqual({
        opened: 7,
        principal_full: 43,
      });
      expect(await store.listOf('ada')).toHaveLength(7);
      const caps = { maxPerPrincipal: 7, maxTotal: 1000 };
      expect(await store.open(session('g', { principal: 'grace' }), caps)).toBe('opened');
    });

    it('are as many in all as the cap allows, also when fifty principals open at once (T-144)', async () => {
      const store = await openSessions(open);
      const caps = { maxPerPrincipal: 5, maxTotal: 11 };
      expect(await openFifty(store, caps, (at) => `principal-${at}`)).toEqual({ opened: 11, full: 39 });
    });

    it('at both caps are refused for the principal’s own', async () => {
      const store = await openSessions(open);
      const caps = { maxPerPrincipal: 1, maxTotal: 1 };
      await store.open(session('k'), caps);
      expect(await store.open(session('l'), caps)).toBe('principal_full');
    });

    it('make room when they end, and only once', async () => {
      const store = await openSessions(open);
      const caps = { maxPerPrincipal: 2, maxTotal: 2 };
      for (const key of ['a', 'b']) await store.open(session(key), caps);
      expect(await Promise.all([store.end('a'), store.end('a'), store.end('none')])).toEqual([
        true,
        false,
        false,
      ]);
      expect(await store.open(session('c'), caps)).toBe('opened');
      expect(await store.open(session('d'), caps)).toBe('principal_full');
      expect(await store.open(session('d', { principal: 'grace' }), caps)).toBe('full');
    });

    it('of a principal are listed by their use, longest unused first, and those of others are not (T-125)', async () => {
      const store = await openSessions(open);
      for (const [at, key] of ['third', 'first', 'second'].entries())
        await store.open(session(key, { usedAt: startOfTime + ((at + 2) % 3) }), wide);
      await store.open(session('other', { principal: 'grace' }), wide);
      expect(await store.listOf('ada')).toEqual(['first', 'second', 'third']);
      expect(await store.listOf('grace')).toEqual(['other']);
      expect(await store.listOf('')).toEqual([]);
    });

    it('change in what is given and in nothing else, and no other session changes', async () => {
      const store = await openSessions(open);
      for (const key of ['k', 'l']) await store.open(session(key), wide);
      await store.change('k', { isInitialized: true });
      await store.change('k', { logLevel: 'error', subscriptions: ['note://1'] });
      await store.change('k', { usedAt: startOfTime + 9 });
      expect(await store.find('k')).toEqual(
        session('k', {
          isInitialized: true,
          logLevel: 'error',
          subscriptions: ['note://1'],
          usedAt: startOfTime + 9,
        }),
      );
      await store.change('k', { grantHash: 'another' });
      expect(await store.find('k')).toMatchObject({ isInitialized: true, grantHash: 'another' });
      await store.change('k', { logLevel: null, subscriptions: [] });
      expect(await store.find('k')).toMatchObject({ isInitialized: true, logLevel: null, subscriptions: [] });
      expect(await store.find('l')).toEqual(session('l'));
    });

    it('that are gone do not come back by a change or a use', async () => {
      const store = await openSessions(open);
      await store.open(session('k'), wide);
      await Promise.all([store.end('k'), store.change('k', { isInitialized: true }), store.touch(['k'], 1)]);
      expect(await store.find('k')).toBeUndefined();
      expect(await store.listOf('ada')).toEqual([]);
    });

    it('changed in two ways at once keep both', async () => {
      const store = await openSessions(open);
      await store.open(session('k'), wide);
      await Promise.all([
        store.change('k', { isInitialized: true }),
        store.change('k', { logLevel: 'info' }),
        store.change('k', { subscriptions: ['note://1'] }),
      ]);
      expect(await store.find('k')).toEqual(
        session('k', { isInitialized: true, logLevel: 'info', subscriptions: ['note://1'] }),
      );
    });

    it('are noted as used, many at once, and never as used earlier than they were', async () => {
      const store = await openSessions(open);
      const keys = Array.from({ length: 600 }, (_, at) => `k${at}`);
      await Promise.all([...keys, 'other'].map((key) => store.open(session(key), wide)));
      await store.touch([], startOfTime + 1);
      await store.touch(keys, startOfTime + 60);
      await store.touch(keys, startOfTime + 30);
      const used = await Promise.all(keys.map(async (key) => (await store.find(key))?.usedAt));
      expect(new Set(used)).toEqual(new Set([startOfTime + 60]));
      expect(await store.find('other')).toEqual(session('other'));
    });
  });
}

const roomy = { maxEvents: 1000, maxBytes: 1_000_000 };

/** A store with two sessions, `a` and `b`, each of a principal of its own. */
async function openTwo(open: OpenStorage): Promise<McpSessionStore> {
  const { mcpSessions } = await openForTest(open);
  for (const key of ['a', 'b']) await mcpSessions.open(session(key, { principal: key }), wide);
  return mcpSessions;
}

/** Events of a stream at these positions; each says where it stands. */
function events(stream: string, ...positions: number[]): StoredEvent[] {
  return positions.map((position) => ({ stream, position, data: JSON.stringify(`${stream}/${position}`) }));
}

async function positionsOf(
  store: McpSessionStore,
  key: string,
  stream: string,
): Promise<number[] | undefined> {
  return (await store.resume(key, stream, 0))?.events.map(({ position }) => position);
}

/** What every store of MCP sessions does with streams and their events. */
export function describeMcpStreams(open: OpenStorage): void {
  describe('streams of an MCP session', () => {
    it('are resumed with the events behind a position, in order, as they were kept (B3-09)', async () => {
      const store = await openTwo(open);
      await store.openStream('a', { stream: 's', owed: ['1', '"1"'] }, startOfTime);
      const kept: StoredEvent[] = [
        ...events('s', 2, 1),
        { stream: 's', position: 10, data: '{"text":"ü\\n\\u0000🗝"}', answers: '"1"' },
      ];
      await store.append('a', kept, roomy, startOfTime);
      expect(await store.resume('a', 's', 0)).toEqual({
        stream: 's',
        owed: ['1'],
        events: [kept[1], kept[0], kept[2]],
      });
      expect(await store.resume('a', 's', 2)).toEqual({ stream: 's', owed: ['1'], events: [kept[2]] });
      expect(await store.resume('a', 's', 10)).toEqual({ stream: 's', owed: ['1'], events: [] });
    });

    it('are resumed by their own session and name alone (T-140)', async () => {
      const store = await openTwo(open);
      for (const key of ['a', 'b'])
        for (const stream of ['s', 't']) {
          await store.openStream(key, { stream, owed: [] }, startOfTime);
          const data = JSON.stringify(`${key} ${stream}`);
          await store.append(key, [{ stream, position: 1, data }], roomy, startOfTime);
        }
      await store.openStream('a', { stream: 'only a', owed: [] }, startOfTime);
      expect((await store.resume('a', 's', 0))?.events).toEqual([
        { stream: 's', position: 1, data: '"a s"' },
      ]);
      expect((await store.resume('b', 't', 0))?.events).toEqual([
        { stream: 't', position: 1, data: '"b t"' },
      ]);
      expect(await store.resume('b', 'only a', 0)).toBeUndefined();
      expect(await store.resume('a', 'none', 0)).toBeUndefined();
      expect(await store.resume('none', 's', 0)).toBeUndefined();
    });

    it('owe each request until it is answered, 1 and "1" being two', async () => {
      const store = await openTwo(open);
      const owed = async () => (await store.resume('a', 's', 0))?.owed;
      await store.openStream('a', { stream: 's', owed: ['1', '"1"', '2'] }, startOfTime);
      await store.openStream('a', { stream: 't', owed: ['1'] }, startOfTime);
      await store.append('a', events('s', 1), roomy, startOfTime);
      expect(await owed()).toEqual(['1', '"1"', '2']);
      const answer = (position: number, answers: string) => ({ stream: 's', position, data: '{}', answers });
      await store.append('a', [answer(2, '1'), answer(3, '7')], roomy, startOfTime);
      expect(await owed()).toEqual(['"1"', '2']);
      await Promise.all([
        store.append('a', [answer(4, '2')], roomy, startOfTime),
        store.append('a', [answer(5, '"1"')], roomy, startOfTime),
      ]);
      expect(await owed()).toEqual([]);
      expect((await store.resume('a', 't', 0))?.owed).toEqual(['1']);
    });

    it('owe requests of any id, also of characters that a database does not hold', async () => {
      const store = await openTwo(open);
      const ids = ['\u0000', '\ud800', '"\\', 'ü🗝', ''].map((id) => JSON.stringify(id));
      await store.openStream('a', { stream: 's', owed: [...ids, '1'] }, startOfTime);
      expect((await store.resume('a', 's', 0))?.owed).toEqual([...ids, '1']);
      const answers = ids.map((id, at) => ({ stream: 's', position: at + 1, data: '{}', answers: id }));
      await store.append('a', answers, roomy, startOfTime);
      expect(await store.resume('a', 's', 0)).toEqual({ stream: 's', owed: ['1'], events: answers });
    });

    it('opened again keep their events and owe what is given', async () => {
      const store = await openTwo(open);
      await store.openStream('a', { stream: 's', owed: ['1'] }, startOfTime);
      await store.append('a', events('s', 1), roomy, startOfTime);
      await store.openStream('a', { stream: 's', owed: ['2'] }, startOfTime);
      expect(await store.resume('a', 's', 0)).toEqual({ stream: 's', owed: ['2'], events: events('s', 1) });
    });

    it('that nobody opened begin with their first event', async () => {
      const store = await openTwo(open);
      await store.append('a', events('s', 1, 2), roomy, startOfTime);
      expect(await store.resume('a', 's', 1)).toEqual({ stream: 's', owed: [], events: events('s', 2) });
    });

    it('are forgotten with their events when they close, and others are not', async () => {
      const store = await openTwo(open);
      await store.append('a', [...events('s', 1), ...events('t', 1)], roomy, startOfTime);
      await store.append('b', events('s', 1), roomy, startOfTime);
      await store.closeStream('a', 's');
      await store.closeStream('a', 'none');
      await store.closeStream('none', 's');
      expect(await store.resume('a', 's', 0)).toBeUndefined();
      expect(await positionsOf(store, 'a', 't')).toEqual([1]);
      expect(await positionsOf(store, 'b', 's')).toEqual([1]);
    });

    it('end with their session, and do not come back with a later one of the same key', async () => {
      const store = await openTwo(open);
      for (const key of ['a', 'b']) await store.append(key, events('s', 1), roomy, startOfTime);
      await Promise.all([
        store.append('a', events('s', 2), roomy, startOfTime),
        store.end('a'),
        store.append('a', events('s', 3), roomy, startOfTime),
        store.openStream('a', { stream: 't', owed: [] }, startOfTime),
      ]);
      await store.open(session('a'), wide);
      expect(await store.resume('a', 's', 0)).toBeUndefined();
      expect(await store.resume('a', 't', 0)).toBeUndefined();
      expect(await positionsOf(store, 'b', 's')).toEqual([1]);
    });
  });

  describe('events of an MCP session', () => {
    it('are not more than its bound: the oldest of any stream go first (T-143)', async () => {
      const store = await openTwo(open);
      const four = { maxEvents: 4, maxBytes: 1_000_000 };
      await store.append('b', events('s', 1, 2, 3, 4), four, startOfTime);
      await store.append('a', [...events('s', 9), ...events('t', 1), ...events('s', 10)], four, startOfTime);
      await store.append('a', [...events('t', 2), ...events('t', 3)], four, startOfTime);
      expect(await positionsOf(store, 'a', 's')).toEqual([10]);
      expect(await positionsOf(store, 'a', 't')).toEqual([1, 2, 3]);
      expect(await positionsOf(store, 'b', 's')).toEqual([1, 2, 3, 4]);
    });

    it('take their stream along with its last answer, when nothing more is owed on it (T-143)', async () => {
      const store = await openTwo(open);
      const one = { maxEvents: 1, maxBytes: 1_000_000 };
      const answer = (stream: string, position: number, answers: string): StoredEvent => ({
        ...(events(stream, position)[0] as StoredEvent),
        answers,
      });
      await store.openStream('a', { stream: 'said', owed: ['1'] }, startOfTime);
      await store.openStream('a', { stream: 'owing', owed: ['1', '2'] }, startOfTime);
      await store.openStream('a', { stream: 'own', owed: [] }, startOfTime);
      const list = [answer('said', 1, '1'), answer('owing', 1, '1'), ...events('own', 1)];
      for (const event of [...list, ...events('last', 1)]) await store.append('a', [event], one, startOfTime);
      expect(await store.resume('a', 'said', 0)).toBeUndefined();
      expect(await store.resume('a', 'owing', 0)).toMatchObject({ owed: ['2'], events: [] });
      expect(await store.resume('a', 'own', 0)).toMatchObject({ owed: [], events: [] });
    });

    it('are not more bytes than its bound, counted as UTF-8 (T-143)', async () => {
      const store = await openTwo(open);
      const append = (position: number, data: string) =>
        store.append('a', [{ stream: 's', position, data }], { maxEvents: 100, maxBytes: 10 }, startOfTime);
      await append(1, 'aaaa');
      await append(2, 'üüü');
      expect(await positionsOf(store, 'a', 's')).toEqual([1, 2]);
      await append(3, 'b');
      expect(await positionsOf(store, 'a', 's')).toEqual([2, 3]);
      await append(4, 'x'.repeat(11));
      expect(await positionsOf(store, 'a', 's')).toEqual([]);
      await append(5, 'x'.repeat(10));
      expect(await positionsOf(store, 'a', 's')).toEqual([5]);
    });

    it('that went with their stream make room', async () => {
      const store = await openTwo(open);
      const three = { maxEvents: 3, maxBytes: 30 };
      await store.append('a', events('s', 1, 2, 3), three, startOfTime);
      await store.closeStream('a', 's');
      await store.append('a', events('t', 1, 2, 3), three, startOfTime);
      expect(await positionsOf(store, 'a', 't')).toEqual([1, 2, 3]);
    });

    it('appended by many at once are all there, within the bound', async () => {
      const store = await openTwo(open);
      const bound = { maxEvents: 30, maxBytes: 1_000_000 };
      await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          Promise.all(['a', 'b'].map((key) => store.append(key, events('s', at + 1), bound, startOfTime))),
        ),
      );
      const last = Array.from({ length: 30 }, (_, at) => at + 21);
      expect(await positionsOf(store, 'a', 's')).toEqual(last);
      expect(await positionsOf(store, 'b', 's')).toEqual(last);
    });

    it('have a position to themselves: a second event there is refused with all that came with it', async () => {
      const store = await openTwo(open);
      await store.append('a', events('s', 1), roomy, startOfTime);
      await expect(store.append('a', events('s', 2, 1), roomy, startOfTime)).rejects.toThrow();
      expect(await positionsOf(store, 'a', 's')).toEqual([1]);
    });
  });
}

const never = { usedBefore: 0, eventsBefore: 0, keep: [] };

async function openUsedAt(open: OpenStorage, usedAt: Record<string, number>): Promise<McpSessionStore> {
  const { mcpSessions } = await openForTest(open);
  for (const [key, at] of Object.entries(usedAt)) await mcpSessions.open(session(key, { usedAt: at }), wide);
  return mcpSessions;
}

/** What every store of MCP sessions does with what is old. */
export function describeMcpSweep(open: OpenStorage): void {
  describe('a sweep of MCP sessions', () => {
    it('ends those unused since a time and not named, with all they have, and says which', async () => {
      const store = await openUsedAt(open, { old: 99, older: 1, kept: 1, young: 100 });
      for (const key of ['old', 'kept'])
        await store.append(key, [{ stream: 's', position: 1, data: '{}' }], roomy, startOfTime);
      const bounds = { ...never, usedBefore: 100, keep: ['kept', 'young', 'none'] };
      expect(await store.sweep(bounds)).toEqual(['older', 'old']);
      expect(await store.sweep(bounds)).toEqual([]);
      expect(await store.find('old')).toBeUndefined();
      expect(await store.resume('old', 's', 0)).toBeUndefined();
      expect(await store.listOf('ada')).toEqual(['kept', 'young']);
      expect((await store.resume('kept', 's', 0))?.events).toHaveLength(1);
      const caps = { maxPerPrincipal: 3, maxTotal: 3 };
      expect(await store.open(session('new'), caps)).toBe('opened');
      expect(await store.open(session('more'), caps)).toBe('principal_full');
    });

    it('forgets old events, and old streams that owe nothing and have no later one, of any session', async () => {
      const store = await openUsedAt(open, { k: 100, l: 100 });
      const append = (stream: string, position: number, at: number) =>
        store.append('k', [{ stream, position, data: '{}' }], roomy, at);
      await store.openStream('k', { stream: 'empty', owed: ['1'] }, 49);
      await store.openStream('l', { stream: 'empty', owed: [] }, 49);
      await store.openStream('k', { stream: 'young', owed: ['1'] }, 50);
      await append('over', 1, 49);
      await append('going on', 1, 49);
      await append('going on', 2, 50);
      expect(await store.sweep({ ...never, eventsBefore: 50, keep: ['k'] })).toEqual([]);
      expect(await store.resume('k', 'empty', 0)).toMatchObject({ owed: ['1'] });
      expect(await store.resume('l', 'empty', 0)).toMatchObject({ owed: [] });
      expect(await store.resume('k', 'over', 0)).toBeUndefined();
      expect(await store.resume('k', 'young', 0)).toEqual({ stream: 'young', owed: ['1'], events: [] });
      expect((await store.resume('k', 'going on', 0))?.events.map(({ position }) => position)).toEqual([2]);
      expect(await store.find('l')).toBeDefined();
    });

    it('gives the room of forgotten events back', async () => {
      const store = await openUsedAt(open, { k: 100 });
      const two = { maxEvents: 2, maxBytes: 4 };
      const append = (position: number) =>
        store.append('k', [{ stream: 's', position, data: '{}' }], two, position);
      for (const position of [1, 2]) await append(position);
      await store.sweep({ ...never, eventsBefore: 3 });
      for (const position of [3, 4]) await append(position);
      expect((await store.resume('k', 's', 0))?.events.map(({ position }) => position)).toEqual([3, 4]);
    });

    it('that has nothing to do does nothing', async () => {
      const store = await openUsedAt(open, { k: 100 });
      await store.openStream('k', { stream: 's', owed: [] }, 50);
      expect(await store.sweep({ usedBefore: 100, eventsBefore: 50, keep: [] })).toEqual([]);
      expect(await store.resume('k', 's', 0)).toBeDefined();
    });

    it('of many lets others write in between (T-180)', async () => {
      const { mcpSessions: store } = await openForTest(open);
      const many = { maxPerPrincipal: 5000, maxTotal: 5000 };
      await Promise.all(
        Array.from({ length: 3000 }, (_, at) => store.open(session(`old-${at}`, { usedAt: 1 }), many)),
      );
      const order: string[] = [];
      const sweep = store.sweep({ ...never, usedBefore: 2 }).then((keys) => {
        order.push('swept');
        return keys;
      });
      for (let at = 0; at < 3; at++)
        await store.open(session(`new-${at}`), many).then(() => order.push('written'));
      expect(new Set(await sweep).size).toBe(3000);
      expect(order).toEqual(['written', 'written', 'written', 'swept']);
      expect(await store.listOf('ada')).toEqual(['new-0', 'new-1', 'new-2']);
    });
  });
}
