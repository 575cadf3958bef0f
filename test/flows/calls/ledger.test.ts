import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallRow } from '../../../src/storage/calls.ts';
import type { Target } from '../../attacks/support/gates.ts';
import { type Lane, openLane } from '../../attacks/support/lane.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens, register } from '../../support/oauth.ts';
import { readLedger } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';

const doors = ['session', 'modern', 'sse', 'rest'] as const;
const program = (sharing: string) =>
  nodeProgram('test/attacks/support/hostile-program.ts', '1', sharing, 'legacy');

let gatehouse: RunningGatehouse;
let clientId: string;
const lanes = new Map<string, Lane>();
const issued: string[] = [];

/** Obtains tokens and opens a lane at each door of a route. */
async function enter(route: string, scopes: string[]): Promise<void> {
  const visitor = createVisitor();
  const tokenFor = async (end: string): Promise<string> => {
    const at = { url: gatehouse.url, mcpUrl: `${gatehouse.url}/${route}${end}` };
    const scope = scopes.join(' ');
    const { tokens } = await obtainTokens(at, { visitor, person: ada, clientId, scope, scopes });
    issued.push(tokens.access_token);
    return tokens.access_token;
  };
  const target: Target = {
    name: route,
    gatehouse,
    path: `/${route}`,
    strictness: { names: 'closed', checksArguments: false, readOnly: false },
    naming: {},
    doors,
    tokens: { mcp: await tokenFor('/mcp'), sse: await tokenFor('/sse'), rest: await tokenFor('/rest') },
  };
  for (const door of doors)
    lanes.set(`${route} ${door}`, await openLane(target, door, { patienceMs: 30_000 }));
}

/** Returns the calls of the ledger once it has as many as expected. */
async function callsOf(query: Parameters<RunningGatehouse['storage']['calls']['list']>[0], count: number) {
  const list = (): Promise<CallRow[]> => gatehouse.storage.calls.list(query, 500);
  await expect.poll(async () => (await list()).length, { timeout: 30_000 }).toBe(count);
  return list();
}

beforeAll(async () => {
  gatehouse = await startGatehouse({
    routes: {
      notes: { backend: { ...program('account'), process: 'account' } },
      guarded: {
        backend: { ...program('shared'), process: 'shared' },
        scopes: { read: 'Read.', admin: 'Administer.' },
        baselineScopes: ['read'],
        scopeRules: { tools: { read_note: ['admin'] } },
      },
      closed: {
        backend: { ...program('shared'), process: 'shared' },
        policy: { tools: { deny: ['read_note'] } },
      },
      limited: {
        backend: { ...program('shared'), process: 'shared' },
        policy: { limits: [{ perMinute: 1 }] },
      },
    },
  });
  clientId = (await register(gatehouse.url)).client_id;
  await enter('notes', ['mcp']);
  await enter('guarded', ['read']);
  await enter('closed', ['mcp']);
  await enter('limited', ['mcp']);
});
afterAll(async () => {
  for (const lane of lanes.values()) lane.close();
  await gatehouse.stop();
});

describe('A call', () => {
  it.each([...doors])(
    'through the door %s is in the ledger once, with its caller and its outcome',
    async (door) => {
      const lane = lanes.get(`notes ${door}`) as Lane;
      const before = (await gatehouse.storage.calls.list({ route: '/notes' }, 500)).length;
      await lane.call('some text');
      const [row] = await callsOf({ route: '/notes' }, before + 1);
      const [account] = await gatehouse.administration.accounts.list();
      expect(row).toMatchObject({
        account: account?.id,
        client: clientId,
        route: '/notes',
        transport: door === 'session' || door === 'modern' ? 'http' : door,
        method: 'tools/call',
        target: 'read_note',
        argumentNames: 'text',
        arguments: null,
        cached: false,
      });
      expect(row?.grant).toEqual(expect.any(String));
      expect(row?.bytesIn).toBeGreaterThan(50);
      expect(row?.waitMs).toBeGreaterThanOrEqual(0);
      expect(row?.waitMs).toBeLessThanOrEqual(row?.ms ?? 0);
      expect(row?.requestId).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it.each([...doors])('that lacks a scope is in the ledger as refused, by the door %s', async (door) => {
    const before = (await gatehouse.storage.calls.list({ route: '/guarded' }, 500)).length;
    await (lanes.get(`guarded ${door}`) as Lane).call('some text');
    const [row] = await callsOf({ route: '/guarded' }, before + 1);
    expect(row).toMatchObject({ outcome: 'refused', reason: 'insufficient_scope', target: 'read_note' });
  });

  it.each([...doors])('that the policy denies is in the ledger as refused, by the door %s', async (door) => {
    const before = (await gatehouse.storage.calls.list({ route: '/closed' }, 500)).length;
    await (lanes.get(`closed ${door}`) as Lane).call('some text');
    const [row] = await callsOf({ route: '/closed' }, before + 1);
    expect(row).toMatchObject({ outcome: 'refused', reason: 'not_allowed' });
  });

  it.each([...doors])('beyond a limit has the reason of Gatehouse, by the door %s', async (door) => {
    const before = (await gatehouse.storage.calls.list({ route: '/limited' }, 500)).length;
    const lane = lanes.get(`limited ${door}`) as Lane;
    for (const text of ['the only one of this minute', 'one more']) await lane.call(text);
    const [row] = await callsOf({ route: '/limited' }, before + 2);
    expect(row).toMatchObject({ outcome: 'refused', reason: 'tool_called_too_often' });
  });

  it('has the same hash as another with equal arguments, and another one otherwise', async () => {
    const lane = lanes.get('notes rest') as Lane;
    const before = (await gatehouse.storage.calls.list({ route: '/notes' }, 500)).length;
    for (const text of ['equal', 'equal', 'other']) await lane.call(text);
    const rows = await callsOf({ route: '/notes' }, before + 3);
    const [last, second, first] = rows.map(({ argumentsHash }) => argumentsHash);
    expect(first).toBe(second);
    expect(last).not.toBe(first);
  });
});

describe('The ledger', () => {
  it('verifies, and holds no argument, result, token or address of a person', async () => {
    const verdict = await gatehouse.administration.calls.verify();
    expect(verdict).toMatchObject({ isWhole: true, lost: 0, gaps: [], faults: [] });
    expect(verdict.anchoredUpTo).toBeGreaterThan(0);
    const bytes = await readLedger(gatehouse.folder);
    expect(bytes).toContain(clientId);
    expect(issued).toHaveLength(12);
    for (const secret of ['some text', 'equal', ada.email, ...issued])
      expect(bytes.includes(secret), secret).toBe(false);
  });
});
