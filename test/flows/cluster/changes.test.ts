// Flows of src/cluster/bus.ts and src/cluster/relays.ts: what changes through one node is known at the other.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { GatehouseOptions } from '../../../src/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { type EventReader, readEvents } from '../../mcp/support/event-reader.ts';
import { modernRequest, readAnswers } from '../../mcp/support/gate.ts';
import { startBalancer } from '../../support/balancer.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { oneSecondMs } from '../../support/one-second.ts';
import { startNodes, type TestNodes } from '../../support/postgres/nodes.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { openSession, type RawSession, toolCall } from '../restart/support/session.ts';

const server = usePostgres();
const bob = { email: 'bob@example.com', password: 'the quick brown fox jumps over' };

const updated = 'notifications/resources/updated';
const toolsChanged = 'notifications/tools/list_changed';

/** A server that says at a call of a tool that its tools, or a resource, have changed. */
function makeTellingServer(): McpServer {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
  const mcp = new McpServer({ name: 'telling', version: '1' }, { capabilities });
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
    mcp.server.setRequestHandler(method, () => ({}));
  mcp.registerResource('a', 'test://a', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a' }] }));
  const done = { content: [{ type: 'text' as const, text: 'done' }] };
  mcp.registerTool('change', {}, async () => {
    await mcp.server.sendToolListChanged();
    return done;
  });
  mcp.registerTool('update', { inputSchema: z.object({ uri: z.string() }) }, async ({ uri }) => {
    await mcp.server.sendResourceUpdated({ uri });
    return done;
  });
  return mcp;
}

interface Two extends TestNodes {
  /** Sends all requests to one node from now on. */
  at(index: number): void;
  token: string;
  tokenOf(person: { email: string; password: string }): Promise<string>;
}

async function startTwo(options: Partial<GatehouseOptions>): Promise<Two> {
  const nodes = await startNodes(await server().createDatabase(), 2, options);
  await nodes.nodes[0]?.administration.accounts.add(bob.email, bob.password);
  const tokenOf = async (person: { email: string; password: string }) =>
    (await obtainTokens(nodes, { scopes: ['mcp'], scope: 'mcp', person })).tokens.access_token;
  return {
    ...nodes,
    at: (index) => nodes.balancer.only(Number(new URL(nodes.nodes[index]?.listensAt ?? '').port)),
    token: await tokenOf(ada),
    tokenOf,
  };
}

function ask({ mcpUrl }: Two, token: string, method: string, params: object, signal?: AbortSignal) {
  const { headers, json } = modernRequest(method, { ...params });
  return fetch(mcpUrl, {
    method: 'POST',
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify(json),
    ...(signal && { signal }),
  });
}

const call = async (two: Two, token: string, name: string, args: object = {}): Promise<void> =>
  expect(await (await ask(two, token, 'tools/call', { name, arguments: args })).text()).toContain('done');

/** Listens to changes of tools and of resources. */
async function listen(two: Two, token: string, uris: string[]): Promise<EventReader> {
  const notifications = { toolsListChanged: true, resourceSubscriptions: uris };
  const stream = await readEvents((signal) =>
    ask(two, token, 'subscriptions/listen', { notifications }, signal),
  );
  await stream.until(({ method }) => method === 'notifications/subscriptions/acknowledged');
  return stream;
}

/** Reads the changes that a stream brings up to the update of a resource; each as a list or a URI. */
async function readUpTo(stream: EventReader, last: string): Promise<unknown[]> {
  const read: unknown[] = [];
  while (read.at(-1) !== last) {
    const { message } = await stream.until(({ method }) => method === updated || method === toolsChanged);
    read.push(message?.method === updated ? message.params?.uri : message?.method);
  }
  return read;
}

describe('a change of a server of the code', () => {
  it('reaches who listens at the other node within a second, and no other account', async () => {
    const two = await startTwo({ server: makeTellingServer });
    const tokenOfBob = await two.tokenOf(bob);
    two.at(1);
    const [mine, theirs] = [
      await listen(two, two.token, ['test://a', 'test://end']),
      await listen(two, tokenOfBob, ['test://a', 'test://end']),
    ];
    two.at(0);
    const begunAt = performance.now();
    await call(two, two.token, 'update', { uri: 'test://a' });
    await mine.until(({ params }) => params?.uri === 'test://a');
    expect(performance.now() - begunAt).toBeLessThan(oneSecondMs);
    await call(two, two.token, 'change');
    await call(two, two.token, 'update', { uri: 'test://end' });
    expect(await readUpTo(mine, 'test://end')).toEqual([toolsChanged, 'test://end']);
    // A list is changed for everybody; data of an account are its own.
    await call(two, tokenOfBob, 'update', { uri: 'test://end' });
    expect(await readUpTo(theirs, 'test://end')).toEqual([toolsChanged, 'test://end']);
  });

  it('is told once at its own node, and comes back from no other', async () => {
    const two = await startTwo({ server: makeTellingServer });
    two.at(0);
    const here = await listen(two, two.token, ['test://a', 'test://end']);
    two.at(1);
    const there = await listen(two, two.token, ['test://a', 'test://end']);
    two.at(0);
    await call(two, two.token, 'update', { uri: 'test://a' });
    await there.until(({ params }) => params?.uri === 'test://a');
    two.at(1);
    await call(two, two.token, 'update', { uri: 'test://end' });
    expect(await readUpTo(here, 'test://end')).toEqual(['test://a', 'test://end']);
    expect(await readUpTo(there, 'test://end')).toEqual(['test://end']);
  });

  it('reaches a session of a shared server at the other node, if it has subscribed', async () => {
    const two = await startTwo({ server: { create: makeTellingServer, sharing: 'shared' } });
    two.at(1);
    const session = await openSession(two);
    const stream = await session.listen();
    for (const uri of ['test://a', 'test://end'])
      await session.post({ jsonrpc: '2.0', id: uri, method: 'resources/subscribe', params: { uri } });
    two.at(0);
    const other = await openSession(two);
    const begunAt = performance.now();
    await other.call('update', { uri: 'test://a' });
    await stream.until(({ params }) => params?.uri === 'test://a');
    expect(performance.now() - begunAt).toBeLessThan(oneSecondMs);
    await other.call('update', { uri: 'test://not-subscribed' });
    await other.call('change', {});
    await other.call('update', { uri: 'test://end' });
    expect(await readUpTo(stream, 'test://end')).toEqual([toolsChanged, 'test://end']);
  });
});

it('Two processes with cluster.port on one SQLite folder share sessions and changes like nodes on PostgreSQL (FA-37)', async () => {
  const balancer = await startBalancer();
  onTestFinished(() => balancer.close());
  const folder = testFolder();
  const nodes: RunningGatehouse[] = [];
  for (let index = 0; index < 2; index++) {
    const node = await startGatehouse({
      ...{ folder, publicUrl: balancer.url, cluster: { port: 0 } },
      server: { create: makeTellingServer, sharing: 'shared' },
    });
    onTestFinished(() => node.stop());
    nodes.push(node);
    balancer.ports.push(Number(new URL(node.listensAt).port));
  }
  const mcpUrl = `${balancer.url}/mcp`;
  const { tokens } = await obtainTokens({ url: balancer.url, mcpUrl }, { scopes: ['mcp'], scope: 'mcp' });
  balancer.only(balancer.ports[1]);
  const session = await openSession({ mcpUrl, token: tokens.access_token });
  balancer.only(balancer.ports[0]);
  const stream = await session.listen();
  const uri = 'test://a';
  await session.post({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } });
  const other = await openSession({ mcpUrl, token: tokens.access_token });
  await other.call('update', { uri });
  await stream.until(({ params }) => params?.uri === uri);
  expect(await nodes[0]?.storage.nodes.listAll()).toMatchObject([{ sessions: 1 }, { sessions: 1 }]);
});

/** A program whose tools are the lines of a file; the tool `add` appends one and says that the list has changed. */
const program = (file: string) => ({
  command: process.execPath,
  args: [
    '-e',
    `const { readFileSync, appendFileSync } = require('node:fs');
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined || method === undefined) return;
      const capabilities = { tools: { listChanged: true } };
      const serverInfo = { name: 'a', version: '1' };
      if (method === 'initialize') return say({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
      const names = readFileSync(process.argv[1], 'utf8').trim().split('\\n');
      if (method === 'tools/list') return say({ id, result: { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) } });
      if (params?.name === 'add') appendFileSync(process.argv[1], 'added\\n');
      say({ id, result: { content: [] } });
      if (params?.name === 'add') say({ method: 'notifications/tools/list_changed' });
    });`,
    file,
  ],
});

/** Lists the names of the tools in a session. */
async function toolsOf(session: RawSession): Promise<string[]> {
  const response = await session.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const answer = (await readAnswers(response)).find(({ id }) => id === 1);
  expect(answer).toEqual({ jsonrpc: '2.0', id: 1, result: expect.anything() });
  const { tools = [] } = (answer?.result ?? {}) as { tools?: { name: string }[] };
  return tools.map(({ name }) => name);
}

describe('what a node remembers of a backend', () => {
  it('is forgotten if the backend tells another node of a change', async () => {
    const file = join(testFolder(), 'tools');
    writeFileSync(file, 'add\n');
    const two = await startTwo({
      routes: {
        main: { path: '/', backend: program(file), cache: { keep: true, listSeconds: 600 } },
      } as never,
    });
    const listAt = async (index: number, session: RawSession) => {
      two.at(index);
      return toolsOf(session);
    };
    two.at(1);
    const there = await openSession(two);
    two.at(0);
    const here = await openSession(two);
    expect([await listAt(1, there), await listAt(0, here)]).toEqual([['add'], ['add']]);
    writeFileSync(file, 'add\nunnoticed\n');
    expect(await listAt(1, there)).toEqual(['add']);
    await (await here.post(toolCall(2, 'add', {}))).text();
    await expect
      .poll(() => listAt(1, there), { timeout: 3_000, interval: 50 })
      .toEqual(['add', 'unnoticed', 'added']);
    expect(readFileSync(file, 'utf8')).toBe('add\nunnoticed\nadded\n');
  });

  it('that several nodes run as one of several programs of an account reaches the sessions of that account', async () => {
    const file = join(testFolder(), 'tools');
    writeFileSync(file, 'add\n');
    const backends = { files: { ...program(file), process: 'account' } };
    const two = await startTwo({ routes: { main: { path: '/', backends } } as never });
    two.at(1);
    const tokenOfBob = await two.tokenOf(bob);
    const [own, foreign] = [await openSession(two), await openSession({ ...two, token: tokenOfBob })];
    const [heard, unheard] = [await own.listen(), await foreign.listen()];
    for (const session of [own, foreign]) expect(await toolsOf(session)).toEqual(['files_add']);
    two.at(0);
    const here = await openSession(two);
    await (await here.post(toolCall(2, 'files_add', {}))).text();
    await heard.until(({ method }) => method === toolsChanged);
    await fetch(two.mcpUrl, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${tokenOfBob}`, 'mcp-session-id': foreign.id },
    });
    const all = await unheard.rest();
    expect(all.filter(({ message }) => message?.method === toolsChanged)).toEqual([]);
  });

  it('of its pinned definitions is read again if an operator forgot them', async () => {
    const file = join(testFolder(), 'tools');
    writeFileSync(file, 'add\n');
    const two = await startTwo({ routes: { main: { path: '/', backend: program(file) } } as never });
    const { administration } = two.nodes[0] ?? {};
    two.at(1);
    const session = await openSession(two);
    expect(await toolsOf(session)).toEqual(['add']);
    const pinned = async () => (await administration?.pins.list('main'))?.map(({ name }) => name);
    await expect.poll(pinned).toContain('add');
    await administration?.pins.forget('main');
    expect(await pinned()).toEqual([]);
    await expect
      .poll(
        async () => {
          await toolsOf(session);
          return pinned();
        },
        { timeout: 3_000 },
      )
      .toContain('add');
  });

  it('includes that it fails: a backend by URL is left alone by all nodes once one has given it up', async () => {
    const two = await startTwo({
      routes: {
        main: {
          path: '/',
          backend: { url: 'http://127.0.0.1:9/mcp' },
          policy: { breaker: { failures: 4, windowSeconds: 60, openSeconds: 60 } },
        },
      } as never,
    });
    const tryAt = async (index: number): Promise<string> => {
      two.at(index);
      const response = await ask(two, two.token, 'tools/list', {});
      return /"reason":"(\w+)"/.exec(await response.text())?.[1] ?? 'none';
    };
    await expect.poll(() => tryAt(0), { timeout: 10_000 }).toBe('backend_resting');
    let failures = 0;
    const tryThere = async (): Promise<string> => {
      const reason = await tryAt(1);
      if (reason !== 'backend_resting') failures++;
      return reason;
    };
    await expect.poll(tryThere, { timeout: 5_000, interval: 300 }).toBe('backend_resting');
    expect(failures).toBeLessThan(4);
  });
});
