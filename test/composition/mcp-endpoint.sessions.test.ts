import { describe, expect, it } from 'vitest';
import { sessionsOfRoute } from '../../src/composition/mcp-endpoint.ts';
import { routeOfPrincipal } from '../../src/oauth/auth-info.ts';
import type { StoredSession } from '../../src/storage/mcp-sessions.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';

const account = { issuer: 'https://mcp.example.com', subject: 'ada' };
const principal = JSON.stringify([account.issuer, account.subject, 'app']);
const prefix = `${JSON.stringify([account.issuer, account.subject]).slice(0, -1)},"`;
const caps = { maxPerPrincipal: 1, maxTotal: 10 };

const session = (key: string): StoredSession => ({
  key,
  principal,
  grantHash: null,
  initialize: '',
  protocolVersion: '2025-11-25',
  isInitialized: false,
  logLevel: null,
  subscriptions: [],
  createdAt: 1,
  usedAt: 1,
});

describe('the sessions of a route', () => {
  it('are found by it alone, under the principal of their client, and counted for themselves (T-158, T-162)', async () => {
    const { storage } = await openDataFolder(testFolder());
    const all = storage.mcpSessions;
    const [root, notes, files] = ['', '/notes', '/files'].map((path) => sessionsOfRoute(all, path)) as [
      typeof all,
      typeof all,
      typeof all,
    ];
    for (const [store, key] of [
      [root, 'r'],
      [notes, 'n'],
      [files, 'f'],
    ] as const) {
      expect(await store.open(session(key), caps)).toBe('opened');
      expect(await store.open(session(`${key}2`), caps)).toBe('principal_full');
      expect(await store.find(key)).toEqual(session(key));
      expect(await store.listOf(principal)).toEqual([key]);
      expect((await store.listBelow(prefix)).map((each) => [each.key, each.principal])).toEqual([
        [key, principal],
      ]);
      for (const other of ['r', 'n', 'f'].filter((each) => each !== key))
        expect(await store.find(other)).toBeUndefined();
    }
    const stored = new Map((await all.list()).map((each) => [each.key, each.principal]));
    expect(stored.get('r')).toBe(principal);
    expect(routeOfPrincipal(stored.get('r') ?? '')).toBe('');
    expect(routeOfPrincipal(stored.get('f') ?? '')).toBe('/files');
    await storage.close();
  });
});
