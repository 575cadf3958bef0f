// Flows through src/gateway/aggregate/aggregate.ts, src/gateway/aggregate/aggregate-server.ts,
// src/gateway/aggregate/member.ts, src/gateway/aggregate/member.ts and src/composition/route-backend.ts: two real
// programs and a server by URL as one, real logins, clients of both eras.
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { capableClients, connectCapable } from './support/capable-clients.ts';
import { type Elsewhere, serveStreamable } from './support/elsewhere.ts';
import { addPeople } from './support/people.ts';

const scopes = ['mcp'];
const decision = { scopes };
const library = (mark: string) => nodeProgram('test/flows/gateway/support/library.ts', mark);
const unavailable = 'mcp-gatehouse/unavailable';

describe('several servers behind one path', () => {
  let gate: RunningGatehouse;
  let elsewhere: Elsewhere;
  let mcpUrl: string;
  beforeAll(async () => {
    elsewhere = await serveStreamable();
    const backends = {
      north: library('north'),
      south: { ...library('south'), process: 'account' as const },
      web: { url: elsewhere.url },
    };
    gate = await startGatehouse({ routes: { tools: { name: 'All tools', backends } } });
    mcpUrl = `${gate.url}/tools/mcp`;
  });
  afterAll(async () => {
    await gate.stop();
    await elsewhere.stop();
  });

  it.each([
    ['v1', () => connectSdkV1(mcpUrl, decision)],
    ['v2, older', () => connectSdkV2(mcpUrl, 'legacy', decision)],
    ['v2, 2026-07-28', () => connectSdkV2(mcpUrl, { pin: '2026-07-28' }, decision)],
  ] as const)(
    'are one to a client of SDK %s, each name with the key of its backend before it (C8-07)',
    async (_title, connect) => {
      const { client } = await connect();
      expect(client.getServerVersion()?.name).toBe('All tools');
      expect(client.getServerCapabilities()).toMatchObject({ tools: {}, prompts: {}, resources: {} });
      expect(client.getInstructions()).toMatch(/# north\s[\s\S]*The library of north[\s\S]*# south/);
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(['north_whose', 'south_whose', 'web_echo']));
      expect(new Set(names).size).toBe(names.length);
      for (const mark of ['north', 'south']) {
        const called = await client.callTool({ name: `${mark}_whose`, arguments: {} });
        expect(JSON.stringify(called.content)).toContain(mark);
        const found = await client.callTool({ name: `${mark}_find`, arguments: {} });
        const uri = `${mark}+book:///first`;
        expect(found.content).toMatchObject([{ uri }, { resource: { uri } }]);
        expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri, text: mark }] });
        const { messages } = await client.getPrompt({ name: `${mark}_praise`, arguments: { who: 'you' } });
        expect(messages).toMatchObject([
          { content: { text: `${mark} praises you` } },
          { content: { resource: { uri } } },
        ]);
        const ref = { type: 'ref/resource' as const, uri: `${mark}+book:///{title}` };
        const argument = { name: 'title', value: 'b' };
        expect((await client.complete({ ref, argument })).completion.values).toEqual([`b of ${mark}`]);
      }
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toEqual(['north_praise', 'south_praise']);
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(['north+book:///first', 'south+book:///first']);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
        'north+book:///{title}',
        'south+book:///{title}',
      ]);
      const echoed = await client.callTool({ name: 'web_echo', arguments: { text: 'hi' } });
      expect(JSON.stringify(echoed.content)).toContain('hi');
      await expect(client.callTool({ name: 'whose', arguments: {} })).rejects.toThrow(/north, south, web/);
      await client.close();
    },
  );

  it.each(capableClients)('are heard by %s: questions, progress, changes and log of each', async (kind) => {
    const client = await connectCapable(kind, mcpUrl, decision);
    for (const key of ['north', 'south', 'web']) {
      expect(await client.call(`${key}_ask`)).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
      const told: number[] = [];
      await client.call(`${key}_steps`, {}, (progress) => told.push(progress));
      expect(told.slice(0, 2)).toEqual([1, 2]);
    }
    await client.follow('north+book:///first');
    await client.setLevel('info');
    // What is written for nobody's call is heard where one call alone runs: the subscription is one, too.
    await client.call('north_whose');
    await client.call('north_write');
    await vi.waitFor(async () => {
      // Each node has programs of its own, and one tells only of what it was subscribed to.
      if (nodeCount > 1) await client.call('north_write');
      expect(client.heard).toEqual(expect.arrayContaining(['north+book:///first', 'written by north']));
    });
    await client.close();
  });

  it('keep people apart: each has a process of their own, and questions reach who called (T-158)', async () => {
    const [email = ''] = await addPeople(gate.folder, 1);
    const other = { scopes, person: { email, password: 'fifty people, one request id' } };
    const clients = await Promise.all([
      connectCapable('SDK v1', mcpUrl, { scopes, person: ada }, 'Ada'),
      connectCapable('SDK v2, 2026-07-28', mcpUrl, other, 'Bob'),
    ]);
    const pids = new Set<unknown>();
    for (const [at, client] of clients.entries()) {
      const who = ['Ada', 'Bob'][at];
      const answers = await Promise.all(
        ['north', 'south', 'web'].map((key) => client.call(`${key}_ask`) as Promise<{ content: object }>),
      );
      expect(answers.map(({ content }) => content)).toEqual([{ name: who }, { name: who }, { name: who }]);
      for (const key of ['north', 'south'])
        pids.add(((await client.call(`${key}_whose`)) as { pid: number }).pid);
    }
    expect(pids.size).toBe(4);
    for (const client of clients) await client.close();
  });

  it('hear a cancellation where the call runs', async () => {
    const { client } = await connectSdkV1(mcpUrl, decision);
    const waiting = new AbortController();
    const call = client.callTool({ name: 'north_wait', arguments: {} }, undefined, {
      signal: waiting.signal,
    });
    setTimeout(() => waiting.abort(), 200);
    await expect(call).rejects.toThrow();
    await vi.waitFor(() => expect(gate.log.join('')).toContain('the wait was cancelled'));
    await client.close();
  });

  it('one that ends takes no other along, and is there again for the next call (T-155)', async () => {
    const { client } = await connectSdkV1(mcpUrl, decision);
    await expect(client.callTool({ name: 'north_crash', arguments: {} })).rejects.toThrow('All tools/north');
    const others = await client.callTool({ name: 'south_whose', arguments: {} });
    expect(JSON.stringify(others.content)).toContain('south');
    await vi.waitFor(
      async () =>
        expect(JSON.stringify(await client.callTool({ name: 'north_whose', arguments: {} }))).toContain(
          'north',
        ),
      { timeout: 8000 },
    );
    await client.close();
  });
});

it('a server that cannot be reached is missing from lists with a warning, fails by name, and comes back with changed lists', async () => {
  const elsewhere = await serveStreamable();
  const { port } = new URL(elsewhere.url);
  await elsewhere.stop();
  const backends = {
    north: library('north'),
    web: { url: `http://127.0.0.1:${port}/mcp`, transport: 'http' as const },
  };
  const gate = await startGatehouse({
    routes: { tools: { backends, policy: { breaker: { failures: 100 } } } },
  });
  const { client } = await connectSdkV1(`${gate.url}/tools/mcp`, decision);
  expect(client.getInstructions()).toMatch(/# web\s+Not available at present/);
  const { tools, _meta } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('north_whose');
  expect(tools.filter(({ name }) => name.startsWith('web_'))).toEqual([]);
  expect(_meta?.[unavailable]).toMatchObject([{ backend: 'web', reason: 'backend_unreachable' }]);
  await expect(client.callTool({ name: 'web_echo', arguments: { text: 'a' } })).rejects.toThrow(
    'The MCP server tools/web cannot be reached',
  );
  expect(gate.log.join('')).toContain('a list is given without a backend');

  const changed = vi.fn();
  client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
  const again = await serveStreamable({ port: Number(port) });
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 15_000 });
  const after = await client.listTools();
  expect(after.tools.map(({ name }) => name)).toContain('web_echo');
  expect(after._meta?.[unavailable]).toBeUndefined();
  await client.close();
  await gate.stop();
  await again.stop();
});
