// Calls of many accounts by every transport, era and kind of server, counted outside: src/mcp/calls.ts
import { expect, it, onTestFinished } from 'vitest';
import type { CallRow } from '../../../src/storage/calls.ts';
import type { Target } from '../../attacks/support/gates.ts';
import { type Lane, openLane } from '../../attacks/support/lane.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { startEchoServer } from './support/echo-server.ts';

const count = Number(process.env.GATEHOUSE_LEDGER_CALLS || 800);
const people = count >= 10_000 ? 20 : 4;
const doors = ['session', 'modern', 'sse', 'rest'] as const;
const password = 'correct horse battery staple';

it(`${count} calls of ${people} accounts are in the ledger once each, with the outcome that an oracle outside counted`, async () => {
  const url = await startEchoServer();
  onTestFinished(() => url.stop());
  const program = nodeProgram('test/flows/calls/support/echo-program.ts');
  const scopes = { scopes: { mcp: 'Use it.', admin: 'Administer it.' }, baselineScopes: ['mcp'] };
  const guarded = { ...scopes, scopeRules: { tools: { forbidden: ['admin'] } } };
  const policy = { tools: { deny: ['denied'] } };
  const routes = {
    url: { backend: { url: url.url }, ...guarded, policy },
    'by-session': {
      backend: { ...program, process: 'session' as const, maxProcesses: 200 },
      ...guarded,
      policy,
    },
    'by-account': { backend: { ...program, process: 'account' as const }, ...guarded, policy },
    shared: { backend: { ...program, process: 'shared' as const }, ...guarded, policy },
    joined: {
      backends: { one: { url: url.url }, two: { ...program, process: 'shared' as const } },
      ...scopes,
      scopeRules: { tools: { one_forbidden: ['admin'], two_forbidden: ['admin'] } },
      policy: { tools: { deny: ['one_denied', 'two_denied'] } },
    },
  };
  const many = { times: 1_000_000 };
  const gatehouse = await startGatehouse({
    routes,
    limits: { registrations: many, authorizations: many, loginsPerAddress: many, requests: many },
  });
  onTestFinished(() => gatehouse.stop());

  const lanes: { lane: Lane; account: string; route: string }[] = [];
  for (let person = 0; person < people; person++) {
    const email = `person${person}@example.com`;
    await gatehouse.administration.accounts.add(email, password);
    const account = (await gatehouse.administration.accounts.show(email)).id;
    const visitor = createVisitor();
    const { client_id: clientId } = await register(gatehouse.url);
    for (const route of Object.keys(routes)) {
      const tokenFor = async (end: string): Promise<string> => {
        const at = { url: gatehouse.url, mcpUrl: `${gatehouse.url}/${route}${end}` };
        const asked = { visitor, person: { email, password }, clientId, scope: 'mcp', scopes: ['mcp'] };
        return (await obtainTokens(at, asked)).tokens.access_token;
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
        lanes.push({ lane: await openLane(target, door, { patienceMs: 60_000 }), account, route });
    }
  }
  onTestFinished(() => {
    for (const { lane } of lanes) lane.close();
  });

  /** Number of expected calls, by everything that the ledger must say of them. */
  const expected = new Map<string, number>();
  const keyOf = (
    row: Pick<CallRow, 'account' | 'route' | 'transport' | 'target' | 'outcome' | 'reason'>,
  ): string => [row.account, row.route, row.transport, row.target, row.outcome, row.reason].join(' ');
  /** The tools of a turn: a tenth is refused, by scope or by policy, and some fail. */
  const kinds = ['echo', 'echo', 'echo', 'failing', 'echo', 'echo', 'broken', 'echo', 'echo'];
  const send = async (turn: number): Promise<void> => {
    const { lane, account, route } = lanes[turn % lanes.length] as (typeof lanes)[number];
    const round = Math.floor(turn / lanes.length);
    const kind =
      turn % 10 === 0 ? (turn % 20 === 0 ? 'forbidden' : 'denied') : (kinds[(turn % 10) - 1] as string);
    const name = route === 'joined' ? `${round % 2 === 0 ? 'one' : 'two'}_${kind}` : kind;
    const { door } = lane;
    const isModern = door === 'modern';
    const params = {
      name,
      arguments: { text: `call ${turn}` },
      ...(isModern && {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'oracle', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      }),
    };
    const body = Buffer.from(
      JSON.stringify({ jsonrpc: '2.0', id: `c-${turn}`, method: 'tools/call', params }),
    );
    const mirrors = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
    const answer = await lane.send({ body, headers: isModern ? mirrors : {} });
    expect(answer.status, `${door} ${name}`).toBeGreaterThan(0);
    const outcome = {
      echo: 'ok',
      failing: 'tool_error',
      broken: 'error',
      forbidden: 'refused',
      denied: 'refused',
    }[kind] as CallRow['outcome'];
    const reason = { forbidden: 'insufficient_scope', denied: 'not_allowed' }[kind] ?? null;
    const transport = door === 'sse' || door === 'rest' ? door : 'http';
    const key = keyOf({ account, route: `/${route}`, transport, target: name, outcome, reason });
    expected.set(key, (expected.get(key) ?? 0) + 1);
  };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: 8 }, work));

  const { calls } = gatehouse.storage;
  await expect
    .poll(async () => (await calls.count({}, { by: [], limit: 1 }))[0]?.calls, { timeout: 60_000 })
    .toBe(count);
  const found = new Map<string, number>();
  for (const row of await calls.read({}, count + 1)) {
    found.set(keyOf(row), (found.get(keyOf(row)) ?? 0) + 1);
    const isSent = row.outcome !== 'refused';
    expect([keyOf(row), row.waitMs !== null]).toEqual([keyOf(row), isSent]);
  }
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  const verdict = await gatehouse.administration.calls.verify();
  expect(verdict).toMatchObject({ isWhole: true, calls: count, lost: 0 });
}, 3_600_000);
