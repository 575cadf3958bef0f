import { expect, it, onTestFinished } from 'vitest';
import { startGatehouse } from '../support/gatehouse.ts';
import { nodeProgram } from '../support/node-program.ts';
import { obtainTokens, register } from '../support/oauth.ts';
import { createVisitor } from '../support/visitor.ts';
import type { Target } from './support/gates.ts';
import { startHostileServer } from './support/hostile-server.ts';
import { type Lane, openLane } from './support/lane.ts';

const count = Number(process.env.GATEHOUSE_ATTACK_ANSWERS ?? 2000);
const seed = Number(process.env.GATEHOUSE_ATTACK_SEED ?? 20_260_728);

const accounts = ['ann', 'bob', 'cleo', 'dan'];
const doors = ['session', 'modern', 'sse', 'rest'] as const;
const password = 'correct horse battery staple';

/** Longest wait for an answer, in milliseconds; the servers have five seconds for theirs. */
const patienceMs = 30_000;

it(`None of ${count} calls receives what hostile servers answered to another caller (T-218)`, async () => {
  console.log(`GATEHOUSE_ATTACK_SEED=${seed} GATEHOUSE_ATTACK_ANSWERS=${count}`);
  const server = await startHostileServer(seed);
  onTestFinished(() => server.stop());
  const program = (sharing: string, era: string) =>
    nodeProgram('test/attacks/support/hostile-program.ts', String(seed), sharing, era);
  const policy = { breaker: { failures: 1000 }, timeLimitSeconds: 5 };
  const shared = { ...program('shared', 'legacy'), process: 'shared' as const };
  const routes = {
    'url-legacy': { backend: { url: server.url('legacy') }, policy },
    'url-modern': { backend: { url: server.url('modern') }, policy },
    'stdio-shared': { backend: shared, policy },
    'stdio-account': { backend: { ...program('account', 'legacy'), process: 'account' as const }, policy },
    'stdio-session': {
      backend: { ...program('account', 'legacy'), process: 'session' as const, maxProcesses: 100 },
      policy,
    },
    'stdio-modern': {
      backend: { ...program('account', 'modern'), process: 'session' as const, maxProcesses: 100 },
      policy,
    },
    joined: { backends: { one: { url: server.url('legacy') }, two: shared }, policy },
  };
  const many = { times: 1_000_000 };
  const gatehouse = await startGatehouse({
    routes,
    limits: { registrations: many, authorizations: many, loginsPerAddress: many, requests: many },
  });
  onTestFinished(() => gatehouse.stop());

  /** What reached another caller: one example of each method. */
  const wrong = new Map<string, string>();
  const tally = { answered: 0, refused: 0, unanswered: 0 };
  /** Whatever came to a caller, in whichever message. */
  const judge = (caller: string, text: string, turn?: number): void => {
    const [account = ''] = caller.split('-');
    const foreign = [
      ...[...text.matchAll(/mk-([a-z]+-[a-z]+)-([a-z-]+?)-(\d+)-/g)].filter(
        ([, owner, , nth]) => owner !== caller || (turn !== undefined && Number(nth) !== turn),
      ),
      ...[...text.matchAll(/ak-([a-z]+)-/g)].filter(([, owner]) => owner !== account),
    ];
    const [first] = foreign;
    if (!first) return;
    const kind = /"method":"([^"]+)"/.exec(text)?.[1] ?? 'an answer';
    if (!wrong.has(kind)) wrong.set(kind, `${kind}: ${caller} received ${first[0]} in ${text.slice(0, 600)}`);
  };

  interface Talker {
    lane: Lane;
    caller: string;
    route: string;
    waiting: Map<string, () => void>;
  }
  const talkers: Talker[] = [];
  const visitors = await Promise.all(
    accounts.map(async (account) => {
      await gatehouse.administration.accounts.add(`${account}@example.com`, password);
      return { account, visitor: createVisitor(), clientId: (await register(gatehouse.url)).client_id };
    }),
  );
  for (const route of Object.keys(routes))
    for (const { account, visitor, clientId } of visitors) {
      const tokenFor = async (end: string): Promise<string> => {
        const at = { url: gatehouse.url, mcpUrl: `${gatehouse.url}/${route}${end}` };
        const person = { email: `${account}@example.com`, password };
        const { tokens } = await obtainTokens(at, {
          visitor,
          person,
          clientId,
          scope: 'mcp',
          scopes: ['mcp'],
        });
        return tokens.access_token;
      };
      const tokens = {
        mcp: await tokenFor('/mcp'),
        sse: await tokenFor('/sse'),
        rest: await tokenFor('/rest'),
      };
      const target: Target = {
        name: route,
        gatehouse,
        path: `/${route}`,
        strictness: { names: 'closed', checksArguments: false, readOnly: false },
        naming: {},
        doors,
        tokens,
      };
      for (const door of doors) {
        const caller = `${account}-${door}`;
        const waiting: Talker['waiting'] = new Map();
        let held = '';
        const hear = (chunk: string): void => {
          held += chunk;
          const events = held.split('\n\n');
          held = events.pop() ?? '';
          for (const event of events) {
            const id = /"id":"c-(\d+)"/.exec(event)?.[1];
            judge(caller, event, id === undefined || !event.includes('"result"') ? undefined : Number(id));
            if (id !== undefined) waiting.get(id)?.();
          }
        };
        talkers.push({ lane: await openLane(target, door, { hear, patienceMs }), caller, route, waiting });
      }
    }
  onTestFinished(() => {
    for (const { lane } of talkers) lane.close();
  });

  let turns = 0;
  const talk = async ({ lane, caller, route, waiting }: Talker): Promise<void> => {
    const turn = ++turns;
    const tools = route === 'joined' ? ['one_read_note', 'two_read_note'] : ['read_note'];
    const name = tools[turn % tools.length] as string;
    const isModern = lane.door === 'modern';
    const params = {
      name,
      arguments: { text: `mk-${caller}-${route}-${turn}-` },
      _meta: {
        // Callers may choose the same tokens, as they may choose the same ids.
        progressToken: turn % 3 === 0 ? 1 : `t-${turn}`,
        ...(isModern && {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'caller', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        }),
      },
    };
    const body = Buffer.from(
      JSON.stringify({ jsonrpc: '2.0', id: `c-${turn}`, method: 'tools/call', params }),
    );
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    };
    const onStream =
      lane.door === 'sse'
        ? new Promise<boolean>((resolve) => {
            const timer = setTimeout(() => resolve(false), patienceMs);
            waiting.set(String(turn), () => {
              clearTimeout(timer);
              resolve(true);
            });
          })
        : undefined;
    const answer = await lane.send({ body, headers: isModern ? headers : {} });
    judge(caller, answer.body, turn);
    const came = onStream === undefined ? answer.status !== 0 : answer.status === 202 && (await onStream);
    waiting.delete(String(turn));
    if (!came) tally.unanswered++;
    else if (onStream !== undefined || answer.body.includes(`-${turn}-`)) tally.answered++;
    else tally.refused++;
  };
  const share = Math.ceil(count / talkers.length);
  await Promise.all(
    talkers.map(async (talker) => {
      for (let sent = 0; sent < share; sent++) await talk(talker);
    }),
  );
  console.log(tally);
  expect([...wrong.values()], `seed ${seed}`).toEqual([]);
  // Hostile answers fail some calls; most are answered all the same, so there was something to cross.
  expect(tally.answered).toBeGreaterThan(count / 2);
}, 3_600_000);
