import { describe, expect, it } from 'vitest';
import type { McpSessionStore } from '../../../src/storage/mcp-sessions.ts';
import { session, wide } from './mcp-session.ts';
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
      const mark = await store.othersMark();
      await store.end('older');
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
