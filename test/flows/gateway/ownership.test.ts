// Flows through src/gateway/steps/ownership.ts, src/composition/backend-state.ts and src/storage/sqlite/stores/backends.ts:
// real servers that know one caller only, and several people and clients behind them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serveKeeping } from '../../support/backend/keeping-server.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens, post, redirectUri, register } from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { postModern } from './support/post-modern.ts';

interface Answer {
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}
/** A client that somebody logged in with. */
interface Login {
  token: string;
  clientId: string;
  refreshToken: string;
}
type Ask = (method: string, params?: object) => Promise<Answer>;

const json = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const unknownTask = { code: -32602, message: 'Invalid params: unknown task.' };

async function started(settings: Parameters<typeof startGatehouse>[0]): Promise<RunningGatehouse> {
  const gate = await startGatehouse(settings);
  onTestFinished(() => gate.stop());
  await gate.administration.accounts.add(grace.email, grace.password);
  return gate;
}

async function login(gate: RunningGatehouse, person?: typeof grace): Promise<Login> {
  const { client_id: clientId } = await register(gate.url, { redirect_uris: [redirectUri] });
  const chosen = { clientId, scopes: ['mcp'], scope: 'mcp', ...(person && { person }) };
  const { tokens } = await obtainTokens(gate, chosen);
  return { token: tokens.access_token, clientId, refreshToken: tokens.refresh_token };
}

/** Reads the answer out of JSON or a stream. */
async function answerIn(response: Response): Promise<Answer> {
  const text = await response.text();
  const data = text.startsWith('{') ? text : (/data: (\{.*"id":1[^0-9].*)/.exec(text)?.[1] ?? '{}');
  return JSON.parse(data) as Answer;
}

/** Opens a session of 2025-11-25. */
async function openSession(gate: RunningGatehouse, { token }: Login): Promise<Ask> {
  let session: Record<string, string> = {};
  const send = async (message: object): Promise<Response> =>
    fetch(gate.mcpUrl, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${token}`, ...session },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const ask: Ask = async (method, params = {}) => answerIn(await send({ id: 1, method, params }));
  const clientInfo = { name: 'test', version: '1' };
  const begun = await send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  });
  await begun.text();
  session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  await send({ method: 'notifications/initialized' }).then((response) => response.text());
  return ask;
}

function askModern(gate: RunningGatehouse, { token }: Login): Ask {
  const meta = {
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  };
  return async (method, params: { taskId?: string } = {}) => {
    const headers: Record<string, string> = params.taskId === undefined ? {} : { 'mcp-name': params.taskId };
    return answerIn(await postModern(gate.mcpUrl, token, { method, params: { ...params }, meta, headers }));
  };
}

const taskCall = (secret: string) => ({ name: 'tool-1', arguments: { secret }, task: { ttl: 60_000 } });

/** Tasks are refused unless an operator opens them (FA-02). */
const opened = Object.fromEntries(
  ['get', 'list', 'result', 'cancel', 'update'].map((name) => [`tasks/${name}`, ['mcp']]),
);

/** The settings of a route whose people share what stands in `backend`. */
const routeTo = (backend: object) =>
  ({ routes: { keeping: { path: '/', backend, policy: { methods: opened } } } }) as never;

/** What each client sees of the tasks of everybody. */
async function expectOwn(
  clients: readonly Ask[],
  taskIds: readonly string[],
  methods: readonly string[],
): Promise<void> {
  for (const [at, ask] of clients.entries())
    for (const taskId of taskIds)
      for (const method of methods) {
        const { result, error } = await ask(method, { taskId });
        if (taskId === taskIds[at]) expect([method, result]).toEqual([method, expect.any(Object)]);
        else expect([method, error]).toEqual([method, unknownTask]);
      }
}

describe('a server by URL with one credential for all', () => {
  it('A task of 2025-11-25 is its maker’s alone, also after a restart, and ends with the grant within a second (FA-03, T-203)', async () => {
    const server = await serveKeeping('legacy');
    onTestFinished(() => server.stop());
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-owners-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const settings = {
      ...(routeTo({ url: server.url, headers: { 'x-key': 'operator' } }) as object),
      folder,
    };
    let gate = await startGatehouse(settings);
    await gate.administration.accounts.add(grace.email, grace.password);
    const logins = [await login(gate), await login(gate), await login(gate, grace)];
    let clients = await Promise.all(logins.map((each) => openSession(gate, each)));
    for (const [at, ask] of clients.entries())
      expect((await ask('tools/call', taskCall(`secret ${at}`))).result).toMatchObject({
        task: { taskId: `task-${at + 1}` },
      });
    const taskIds = ['task-1', 'task-2', 'task-3', 'task-4'];
    const methods = ['tasks/get', 'tasks/result', 'tasks/cancel'];
    await expectOwn(clients, taskIds, methods);
    for (const [at, ask] of clients.entries())
      expect((await ask('tasks/list')).result?.tasks).toMatchObject([{ taskId: taskIds[at] }]);

    const port = Number(new URL(gate.url).port);
    await gate.stop();
    gate = await startGatehouse({ ...settings, port });
    onTestFinished(() => gate.stop());
    clients = await Promise.all(logins.map((each) => openSession(gate, each)));
    await expectOwn(clients, taskIds, methods);
    const [ada, , bob] = clients as [Ask, Ask, Ask];
    expect((await ada('tasks/result', { taskId: 'task-1' })).result?.content).toEqual([
      { type: 'text', text: 'secret 0' },
    ]);

    await bob('tools/call', taskCall('late'));
    const [, , { refreshToken, clientId }] = logins as [Login, Login, Login];
    await post(`${gate.url}/revoke`, { token: refreshToken, client_id: clientId });
    const begun = performance.now();
    await vi.waitFor(
      () => expect(server.received).toContainEqual({ method: 'tasks/cancel', params: { taskId: 'task-4' } }),
      { timeout: 5000, interval: 20 },
    );
    expect(performance.now() - begun).toBeLessThan(1000);
    const again = await openSession(gate, await loginAgain(gate, clientId));
    for (const taskId of ['task-3', 'task-4'])
      expect((await again('tasks/get', { taskId })).error).toEqual(unknownTask);
    expect((await again('tasks/list')).result?.tasks).toEqual([]);
  });

  it('A cursor of one person or list is of no use to another, in both eras (FA-03, T-203)', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const server = await serveKeeping(era);
      onTestFinished(() => server.stop());
      const gate = await started(routeTo({ url: server.url }));
      const logins = [await login(gate), await login(gate), await login(gate, grace)];
      const clients = await Promise.all(
        logins.map((each) => (era === 'legacy' ? openSession(gate, each) : askModern(gate, each))),
      );
      const [ada, other, bob] = clients as [Ask, Ask, Ask];
      const cursor = (await ada('tools/list')).result?.nextCursor;
      expect(cursor).toEqual(expect.any(String));
      for (const ask of [other, bob])
        expect((await ask('tools/list', { cursor })).error).toMatchObject({
          code: -32602,
          message: /unknown cursor/,
        });
      expect((await ada('tools/list', { cursor: '2' })).error).toMatchObject({ code: -32602 });
      const { result } = await ada('tools/list', { cursor });
      expect(result?.tools).toMatchObject([{ name: 'tool-2' }]);
      const last = await ada('tools/list', { cursor: result?.nextCursor });
      expect(last.result?.tools).toMatchObject([{ name: 'tool-3' }]);
      expect(last.result).not.toHaveProperty('nextCursor');
    }
  });

  it('A task of 2026-07-28 is its maker’s alone, and ends with the grant (FA-03, T-203)', async () => {
    const server = await serveKeeping('modern');
    onTestFinished(() => server.stop());
    const gate = await started(routeTo({ url: server.url }));
    const logins = [await login(gate), await login(gate), await login(gate, grace)];
    const clients = logins.map((each) => askModern(gate, each));
    for (const [at, ask] of clients.entries())
      expect(
        (await ask('tools/call', { name: 'tool-1', arguments: { secret: `secret ${at}` } })).result,
      ).toMatchObject({
        resultType: 'task',
        taskId: `task-${at + 1}`,
      });
    await expectOwn(
      clients,
      ['task-1', 'task-2', 'task-3', 'task-9'],
      ['tasks/get', 'tasks/update', 'tasks/cancel'],
    );

    const [, , bob] = clients as [Ask, Ask, Ask];
    await bob('tools/call', { name: 'tool-1', arguments: { secret: 'late' } });
    const [, , { refreshToken, clientId }] = logins as [Login, Login, Login];
    await post(`${gate.url}/revoke`, { token: refreshToken, client_id: clientId });
    const cancelled = { method: 'tasks/cancel', params: expect.objectContaining({ taskId: 'task-4' }) };
    await vi.waitFor(() => expect(server.received).toContainEqual(cancelled), {
      timeout: 5000,
      interval: 20,
    });
    const again = askModern(gate, await loginAgain(gate, clientId));
    expect((await again('tasks/get', { taskId: 'task-4' })).error).toEqual(unknownTask);
  });
});

// Each node has processes of its own, whose ids repeat: a task with an id of another node is handed out to nobody.
it.runIf(nodeCount === 1)(
  'A task at a process of an account is one client’s alone (FA-03, T-203)',
  async () => {
    const program = nodeProgram('test/support/backend/keeping-program.ts');
    const gate = await started(routeTo({ ...program, process: 'account' }));
    const logins = [await login(gate), await login(gate)];
    const clients = await Promise.all(logins.map((each) => openSession(gate, each)));
    for (const ask of clients)
      expect((await ask('tools/call', taskCall('secret'))).result).toHaveProperty('task');
    await expectOwn(clients, ['task-1', 'task-2', 'task-3'], ['tasks/get', 'tasks/result', 'tasks/cancel']);
    for (const [at, ask] of clients.entries())
      expect((await ask('tasks/list')).result?.tasks).toMatchObject([{ taskId: `task-${at + 1}` }]);
  },
);

it('Of several servers behind one path, a cursor is one client’s alone, and none has tasks (T-203)', async () => {
  const [one, two] = [await serveKeeping('legacy'), await serveKeeping('modern')];
  onTestFinished(async () => {
    await one.stop();
    await two.stop();
  });
  const routes = { all: { path: '/', backends: { one: { url: one.url }, two: { url: two.url } } } };
  const gate = await started({ routes } as never);
  const logins = [await login(gate), await login(gate, grace)];
  const [ada, bob] = (await Promise.all(logins.map((each) => openSession(gate, each)))) as [Ask, Ask];
  const cursor = (await ada('tools/list')).result?.nextCursor;
  expect((await bob('tools/list', { cursor })).error).toMatchObject({ code: -32602 });
  expect((await ada('tools/list', { cursor })).result?.tools).toMatchObject([
    { name: expect.stringContaining('tool-2') },
    { name: expect.stringContaining('tool-2') },
  ]);
  const call = await ada('tools/call', { ...taskCall('x'), name: 'one_tool-1' });
  expect(call.result ?? {}).not.toHaveProperty('task');
  for (const method of ['tasks/list', 'tasks/get', 'tasks/result', 'tasks/cancel'])
    expect((await ada(method, { taskId: 'task-1' })).error).toBeDefined();
});

/** Logs grace in once more with a client that she has. */
async function loginAgain(gate: RunningGatehouse, clientId: string): Promise<Login> {
  const { tokens } = await obtainTokens(gate, { clientId, scopes: ['mcp'], scope: 'mcp', person: grace });
  return { token: tokens.access_token, clientId, refreshToken: tokens.refresh_token };
}
