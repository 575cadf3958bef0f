import { describe, expect, it } from 'vitest';
import { connectServer } from '../../../src/client/index.ts';
import { type Answer, type SeenRequest, startServer } from '../../client/support/scripted-server.ts';

const clientInfo = { name: 'test', version: '1' };

interface Message {
  jsonrpc: string;
  id?: number | string;
  method: string;
  params: Record<string, unknown> & { _meta?: Record<string, unknown> };
}

/** What a server answers to a request of a method. */
type Script = Record<string, (message: Message, request: SeenRequest) => Answer>;

const result = ({ id }: Message, value: object): Answer => ({ json: { jsonrpc: '2.0', id, result: value } });

/** Starts a server that plays a script, and gives what it heard. */
async function startScript(script: Script) {
  const server = await startServer();
  const heard: { message: Message; headers: SeenRequest['headers'] }[] = [];
  server.routes['POST /mcp'] = (request) => {
    const message = JSON.parse(request.body) as Message;
    heard.push({ message, headers: request.headers });
    if (message.id === undefined) return { status: 202, text: '' };
    return script[message.method]?.(message, request) ?? { status: 400, text: '' };
  };
  server.routes['GET /mcp'] = { status: 405, text: '' };
  const options = { url: `${server.origin}/mcp`, fetch: globalThis.fetch, clientInfo };
  return { server, heard, options };
}

const older: Script = {
  initialize: (message) => ({
    ...result(message, {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'older', version: '1' },
    }),
    headers: { 'mcp-session-id': 'session-1' },
  }),
  'tools/call': (message) => result(message, { content: [{ type: 'text', text: 'as JSON' }] }),
};

describe('messages to a server of initialize', () => {
  it('are a POST each, and take JSON and event streams; the first ones open the session (B3-02, B3-16, C2-01)', async () => {
    const { server, heard, options } = await startScript(older);
    const { client, close } = await connectServer(options);
    await client.callTool({ name: 'work' });
    await close();

    const [probe, ...session] = heard;
    expect(probe?.message.method).toBe('server/discover');
    expect(session.map(({ message }) => message.method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/call',
    ]);
    expect(session[0]?.message.params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo,
    });
    for (const { headers } of heard) {
      expect(headers['content-type']).toBe('application/json');
      expect(headers.accept).toMatch(/application\/json.*text\/event-stream/);
    }
    for (const { headers } of session.slice(1))
      expect(headers).toMatchObject({ 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': 'session-1' });
    expect(server.requests.at(-1)).toMatchObject({
      method: 'DELETE',
      headers: { 'mcp-session-id': 'session-1' },
    });
  });

  it('may be answered on a stream that is kept alive by comments (B2-04, B3-04)', async () => {
    const { options } = await startScript({
      ...older,
      'tools/call': (message) => ({
        headers: { 'content-type': 'text/event-stream' },
        text: `: ping\n\n: ping\n\nevent: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [] } })}\n\n`,
      }),
    });
    const { client, close } = await connectServer(options);
    expect(await client.callTool({ name: 'work' })).toMatchObject({ content: [] });
    await close();
  });

  it('are waited for on a new stream, after the time the server asks for, behind the last event (B4-03)', async () => {
    let cutAt = 0;
    let asked: Message | undefined;
    const { server, options } = await startScript({
      ...older,
      'tools/call': (message) => {
        asked = message;
        cutAt = Date.now();
        return {
          headers: { 'content-type': 'text/event-stream' },
          text: 'id: event-1\nretry: 200\ndata:\n\n',
        };
      },
    });
    let waited = 0;
    server.routes['GET /mcp'] = ({ headers }) => {
      if (headers['last-event-id'] !== 'event-1') return { status: 405, text: '' };
      waited = Date.now() - cutAt;
      const answer = { jsonrpc: '2.0', id: asked?.id, result: { content: [{ type: 'text', text: 'late' }] } };
      return {
        headers: { 'content-type': 'text/event-stream' },
        text: `id: event-2\ndata: ${JSON.stringify(answer)}\n\n`,
      };
    };
    const { client, close } = await connectServer(options);
    expect(await client.callTool({ name: 'work' })).toMatchObject({ content: [{ text: 'late' }] });
    await close();
    expect(waited).toBeGreaterThanOrEqual(190);
    expect(waited).toBeLessThan(1000);
  });
});

describe('messages to a server of 2026-07-28', () => {
  const revision = '2026-07-28';
  const modern: Script = {
    'server/discover': (message) =>
      result(message, {
        resultType: 'complete',
        supportedVersions: [revision],
        capabilities: { tools: {} },
        serverInfo: { name: 'modern', version: '1' },
      }),
    'tools/call': (message) => result(message, { resultType: 'complete', content: [] }),
  };

  it('say in each who asks in which revision, in the body and in headers that agree (B5-02, B5-03, C3-01)', async () => {
    const { heard, options } = await startScript(modern);
    const { client, close } = await connectServer({
      ...options,
      client: { capabilities: { roots: {} } },
    });
    await client.callTool({ name: 'work', arguments: { a: 1 } });
    await close();

    expect(heard.map(({ message }) => message.method)).toEqual(['server/discover', 'tools/call']);
    for (const { message, headers } of heard) {
      expect(message).toMatchObject({ jsonrpc: '2.0', id: expect.anything() });
      expect(message.params._meta).toMatchObject({
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientCapabilities': { roots: {} },
        'io.modelcontextprotocol/clientInfo': clientInfo,
      });
      expect(headers).toMatchObject({ 'mcp-protocol-version': revision, 'mcp-method': message.method });
      expect(headers.accept).toMatch(/application\/json.*text\/event-stream/);
      expect(headers).not.toHaveProperty('mcp-session-id');
    }
    expect(heard.at(-1)?.headers['mcp-name']).toBe('work');
  });
});
