import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { McpLike, ServerSource } from '../../../src/mcp/protocol.ts';
import { findUnserializable, notSerializable } from '../../../src/mcp/sdk/serializable.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { connectHost, initialize, modern as modernLine } from '../stdio/connected-host.ts';
import { type Gate, initializeRequest, readAnswer, startGate } from '../support/gate.ts';
import { modernVersions } from '../support/modern-endpoint.ts';
import { startSseEndpoint } from '../support/sse-endpoint.ts';
import { openStream } from '../support/sse-stream.ts';

const circle: Record<string, unknown> = {};
circle.self = circle;

/** Objects in one another. */
function nest(levels: number): object {
  let outermost = {};
  for (let level = 1; level < levels; level++) outermost = { next: outermost };
  return outermost;
}

const throwing = () => {
  throw new Error('not now');
};

describe('what JSON cannot hold', () => {
  it.each([
    [{ result: { rows: [{ id: 1 }, { id: 2n }] } }, 'result.rows.1.id is a BigInt'],
    [{ result: circle }, 'result.self is an object it stands in itself'],
    [
      {
        get bad() {
          throw new Error('not now');
        },
      },
      'not now',
    ],
    [{ a: { toJSON: () => ({ b: 1n }) } }, 'a.b is a BigInt'],
    [{ a: Object(1n) }, 'a is a BigInt'],
    [{ a: [Object.assign(() => 1, { toJSON: throwing })] }, 'not now'],
    [{ list: [0, { of: { list: [circle] } }] }, 'list.1.of.list.0.self is an object it stands in itself'],
    [nest(100_000), 'next.next.next.next.next has more than 1000 levels within it'],
  ])('is found: %#', (value, fault) => {
    expect(() => JSON.stringify(value)).toThrow();
    expect(findUnserializable(value)).toEqual(fault);
  });

  it.each([
    { result: { date: new Date(0), none: undefined, list: [1, 'x', null], call: () => 1n } },
    { first: [circle.none], twice: [modernVersions, modernVersions] },
    { a: { toJSON: () => 'b', hidden: 1n } },
    { a: Object.assign(() => 1n, { toJSON: () => 'b' }), key: { toJSON: (name: string) => name } },
    nest(1000),
  ])('is not seen in what it can: %#', (value) => {
    expect(() => JSON.stringify(value)).not.toThrow();
    expect(findUnserializable(value)).toBeUndefined();
  });
});

it('costs about as much as writing where there are many objects, however deep', () => {
  const rows = Array.from({ length: 100_000 }, (_, id) => ({ id, at: { x: 1 }, of: { y: 2 } }));
  const within = [...Array(200)].reduce((inner: unknown) => ({ inner }), rows);
  const timeOf = (work: () => unknown): number => {
    const start = performance.now();
    work();
    return performance.now() - start;
  };
  const times = [1, 2, 3].map(() => timeOf(() => findUnserializable(within)));
  expect(Math.min(...times)).toBeLessThan(5 * timeOf(() => JSON.stringify(within)));
});

/** The tools of a server of version 1 or 2: answers that cannot be written, a log message and a question that cannot. */
function addTools(made: McpServer | McpServerV1): McpLike {
  const server = made as McpServer;
  const content = [{ type: 'text' as const, text: 'fine' }];
  server.registerTool('fine', {}, () => ({ content }));
  server.registerTool('big', {}, () => ({ content, structuredContent: { amount: 1n } }));
  server.registerTool('circle', {}, () => ({ content, structuredContent: circle }));
  server.registerTool('tell', {}, async () => {
    await server.server.sendLoggingMessage({ level: 'info', data: { amount: 1n } });
    return { content };
  });
  server.registerTool('ask', {}, async () => {
    const params = { messages: [], maxTokens: 1, metadata: { amount: 1n } };
    await server.server.createMessage(params as never);
    return { content };
  });
  return server;
}

const info = { name: 'test', version: '1' };
const makers = {
  2: () => addTools(new McpServer(info, { ...modernVersions, capabilities: { logging: {} } })),
  1: () => addTools(new McpServerV1(info, { capabilities: { logging: {} } })),
};
const sources = (['each', 'shared'] as const).flatMap((sharing) =>
  ([1, 2] as const).map((version) => ({ sharing, version, create: makers[version] })),
);

/** Starts a gate whose log is read. */
async function start(source: ServerSource, options: Parameters<typeof startGate>[0] = {}) {
  const log: string[] = [];
  const logger = createLogger('error', (line) => log.push(line));
  const gate = await startGate({ source, logger, scopeRules: {}, ...options });
  return { gate, token: gate.issue('ann'), lines: () => log.map((line) => JSON.parse(line)) };
}

/** Opens a session whose client can be asked to sample. */
async function openSession(gate: Gate, token: string): Promise<string> {
  const { params, ...request } = initializeRequest();
  const json = { ...request, params: { ...params, capabilities: { sampling: {} } } };
  const answer = await gate.send(token, { json });
  await answer.text();
  return answer.headers.get('mcp-session-id') ?? '';
}

/** What the log says of a tool. */
const blame = (name: string, said: string, fault: unknown) => ({
  level: 'error',
  method: 'tools/call',
  name,
  said,
  fault,
  msg: 'an MCP server gave something that cannot be written as JSON',
});

describe.each(sources)('of a server of SDK v$version made for $sharing', ({ sharing, create }) => {
  const source: ServerSource = { sharing, create };

  it('is an error at once in a session, which lives on; messages beside the answer are left out', async () => {
    const { gate, token, lines } = await start(source);
    const session = await openSession(gate, token);
    const call = (name: string) => gate.call(token, session, 'tools/call', { name, arguments: {} });
    expect((await call('big')).error).toEqual(notSerializable);
    expect((await call('circle')).error).toEqual(notSerializable);
    expect((await call('tell')).result?.content).toEqual([{ type: 'text', text: 'fine' }]);
    expect((await call('ask')).result).toMatchObject({ isError: true });
    expect((await call('fine')).result?.content).toEqual([{ type: 'text', text: 'fine' }]);
    expect(lines()).toMatchObject([
      blame('big', 'the answer', 'result.structuredContent.amount is a BigInt'),
      blame(
        'circle',
        'the answer',
        expect.stringMatching(/^result.structuredContent.self.*is an object it stands in itself$/),
      ),
      blame('tell', 'notifications/message', 'params.data.amount is a BigInt'),
      blame('ask', 'sampling/createMessage', 'params.metadata.amount is a BigInt'),
    ]);
  });

  it('is an error at once in 2026-07-28', async () => {
    const { gate, token, lines } = await start(source);
    const call = async (name: string) =>
      readAnswer(await gate.callModern(token, 'tools/call', { name, arguments: {} }));
    expect((await call('big')).error).toEqual(notSerializable);
    expect((await call('fine')).error).toBeUndefined();
    expect(lines()).toMatchObject([
      blame('big', 'the answer', 'result.structuredContent.amount is a BigInt'),
    ]);
  });

  it('is an error at once without sessions', async () => {
    const { gate, token, lines } = await start(source, { sessions: 'none' });
    const json = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'big', arguments: {} } };
    const answer = await gate.send(token, { json });
    expect(await readAnswer(answer)).toEqual({ jsonrpc: '2.0', id: 7, error: notSerializable });
    expect(lines()).toHaveLength(1);
  });

  it('is an error at once on a stream of HTTP+SSE, which lives on', async () => {
    const endpoint = await startSseEndpoint(create, { sharing });
    const stream = await openStream(endpoint);
    await stream.initialize();
    const call = async (id: number, name: string) => {
      await stream.post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } });
      return stream.message();
    };
    expect(await call(1, 'big')).toEqual({ jsonrpc: '2.0', id: 1, error: notSerializable });
    expect(await call(2, 'fine')).toMatchObject({ id: 2, result: {} });
    expect(endpoint.log.join('')).toContain('result.structuredContent.amount is a BigInt');
  });

  it('is an error at once over stdio, in both eras', async () => {
    const call = { name: 'big', arguments: {} };
    const older = connectHost(source);
    older.say(initialize());
    await older.hear(1);
    older.say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
    expect((await older.hear(2))[1]).toEqual({ jsonrpc: '2.0', id: 1, error: notSerializable });
    const newer = connectHost(source);
    newer.say(modernLine(1, 'tools/call', call));
    const [answer] = await newer.hear(1);
    if (answer?.error && create === makers[1]) return;
    expect(answer).toEqual({ jsonrpc: '2.0', id: 1, error: notSerializable });
    expect(newer.log.join('')).toContain('result.structuredContent.amount is a BigInt');
  });
});
