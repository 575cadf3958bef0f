import { describe, expect, it } from 'vitest';
import type { McpSessionStore, StoredEvent } from '../../../src/storage/mcp-sessions.ts';
import { session, wide } from './mcp-session.ts';
import { type OpenStorage, openForTest, startOfTime } from './subject.ts';

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
