import { describe, expect, it } from 'vitest';
import { connectServer } from '../../../src/client/index.ts';
import { withUnbatchedEvents } from '../../../src/client/transports/unbatched-events.ts';
import { startServer } from '../support/scripted-server.ts';

/** What becomes of an event stream that comes in these pieces. */
async function read(...pieces: string[]): Promise<string> {
  const body = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)));
  const fetch = withUnbatchedEvents(async () => {
    return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  });
  return (await fetch('http://test')).text();
}

describe('an event stream', () => {
  it('has an event for each message of a batch, the id with the last (B3-15)', async () => {
    expect(await read('event: message\nid: 7\ndata: [{"a":1},{"b":2}]\n\n')).toBe(
      'event: message\ndata: {"a":1}\n\nevent: message\nid: 7\ndata: {"b":2}\n\n',
    );
  });

  it('is given as it is where it brings no batch', async () => {
    const text = ': hello\n\nretry: 500\nid: 1\ndata:\n\ndata: {"a":[1]}\n\ndata: [no\n\n';
    expect(await read(text)).toBe(text);
  });

  it('may have its lines ended in three ways, and be cut anywhere', async () => {
    const text = 'data: [{"a":"é"},\r\ndata: {"b":2}]\r\n\r\n: x\r\rdata: 1\n\ndata: cut';
    const given = 'data: {"a":"é"}\n\ndata: {"b":2}\n\n: x\n\ndata: 1\n\n';
    expect(await read(text)).toBe(given);
    expect(await read(...text)).toBe(given);
  });
});

it('another answer is not touched', async () => {
  const answer = Response.json([1]);
  expect(await withUnbatchedEvents(async () => answer)('http://test')).toBe(answer);
});

it('a server that batches on its stream is understood: notification and result in one event (B3-15)', async () => {
  const server = await startServer();
  server.routes['POST /mcp'] = ({ body }) => {
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return { status: 202, text: '' };
    if (method === 'initialize') {
      const result = {
        protocolVersion: '2025-03-26',
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'batching', version: '1' },
      };
      return { json: { jsonrpc: '2.0', id, result } };
    }
    if (method !== 'tools/call') return { status: 400, text: '' };
    const batch = [
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'said before' } },
      { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } },
    ];
    return {
      headers: { 'content-type': 'text/event-stream' },
      text: `id: 1\ndata: ${JSON.stringify(batch)}\n\n`,
    };
  };
  server.routes['GET /mcp'] = { status: 405, text: '' };
  const heard: unknown[] = [];
  const { client, close } = await connectServer({
    url: `${server.origin}/mcp`,
    fetch: globalThis.fetch,
    clientInfo: { name: 'test', version: '1' },
    prepare: (made) =>
      made.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params.data)),
  });
  const { content } = await client.callTool({ name: 'work' });
  await close();
  expect({ content, heard }).toEqual({ content: [{ type: 'text', text: 'done' }], heard: ['said before'] });
});
