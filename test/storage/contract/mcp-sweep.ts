import { describe, expect, it } from 'vitest';
import type { McpSessionStore } from '../../../src/storage/mcp-sessions.ts';
import { session, wide } from './mcp-session.ts';
import { type OpenStorage, openForTest, startOfTime } from './subject.ts';

const roomy = { maxEvents: 1000, maxBytes: 1_000_000 };
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
