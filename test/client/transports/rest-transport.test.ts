import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  RestClientTransport,
  type RestClientTransportOptions,
} from '../../../src/client/transports/rest-transport.ts';

type Answer = (message: { id?: unknown; method?: string }, res: ServerResponse, req: IncomingMessage) => void;

/** A server that answers as a test says, and a transport to it. */
async function startTransport(answer: Answer, options: Partial<RestClientTransportOptions> = {}) {
  const posted: { headers: IncomingMessage['headers']; message: Record<string, unknown> }[] = [];
  const http = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    const message = JSON.parse(text);
    posted.push({ headers: req.headers, message });
    answer(message, res, req);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/rest`;
  const transport = new RestClientTransport({ url, fetch, ...options });
  const heard: JSONRPCMessage[] = [];
  transport.onmessage = (message) => heard.push(message);
  return { transport, heard, posted };
}

const sendJson = (res: ServerResponse, status: number, body: unknown): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const result = (id: unknown, value: object = {}) => ({ jsonrpc: '2.0', id, result: value });
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

describe('the Rest transport of a client', () => {
  it('connects the SDK’s client, which names its revision from then on (B3-16)', async () => {
    const { transport, posted } = await startTransport(({ id, method }, res) => {
      const capabilities = { tools: {} };
      const serverInfo = { name: 'rest', version: '1' };
      if (method === 'initialize')
        sendJson(res, 200, result(id, { protocolVersion: '2025-06-18', capabilities, serverInfo }));
      else if (method === 'tools/call')
        sendJson(res, 200, result(id, { content: [{ type: 'text', text: 'hi' }] }));
      else res.writeHead(202).end();
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    onTestFinished(() => client.close());
    expect((await client.callTool({ name: 'greet' })).content).toEqual([{ type: 'text', text: 'hi' }]);
    expect(posted.map(({ message }) => message.method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/call',
    ]);
    expect(posted.map(({ headers }) => headers['mcp-protocol-version'])).toEqual([
      undefined,
      '2025-06-18',
      '2025-06-18',
    ]);
    expect(posted[0]?.headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
    });
  });

  it.each([
    ['an object', result(1)],
    ['an array of one', [result(1)]],
    ['an array with answers to others', [result(7), result('1'), result(1)]],
  ])('takes the answer as %s, and none but its own (B7-08, B7-13)', async (_form, body) => {
    const { transport, heard } = await startTransport((_message, res) => sendJson(res, 200, body));
    await transport.send(ping);
    expect(heard).toEqual([result(1)]);
  });

  it.each([[[]], [{}], [result(2)], [null]])(
    'takes %j for a time-out of the server (B7-09)',
    async (body) => {
      const { transport, heard } = await startTransport((_message, res) => sendJson(res, 200, body));
      await transport.send(ping);
      expect(heard).toEqual([
        { jsonrpc: '2.0', id: 1, error: { code: -32001, message: expect.any(String) } },
      ]);
    },
  );

  it('hands on the error of a refused request, though it names no id', async () => {
    const error = { code: -32000, message: 'Not Acceptable' };
    const { transport, heard } = await startTransport((_message, res) =>
      sendJson(res, 406, { jsonrpc: '2.0', error, id: null }),
    );
    await transport.send(ping);
    expect(heard).toEqual([{ jsonrpc: '2.0', id: 1, error }]);
  });

  it.each([
    ['a status without JSON-RPC', 502, 'server_error'],
    ['a redirect', 302, 'redirected'],
  ])('fails by name on %s', async (_what, status, reason) => {
    const { transport } = await startTransport((_message, res) =>
      res.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('<html>'),
    );
    await expect(transport.send(ping)).rejects.toMatchObject({ reason });
    await expect(
      transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    ).rejects.toMatchObject({
      reason,
    });
  });

  it('fails by name when no answer comes in time, or nobody is there', async () => {
    const { transport } = await startTransport(() => undefined, { timeoutMs: 50 });
    await expect(transport.send(ping)).rejects.toMatchObject({ reason: 'timed_out' });
    const nobody = new RestClientTransport({ url: 'http://127.0.0.1:1/rest', fetch });
    await expect(nobody.send(ping)).rejects.toMatchObject({ reason: 'unreachable' });
  });

  it('uses the fetch it is given, and passes its failures on', async () => {
    const given = new RestClientTransport({
      url: 'https://mcp.example.com/rest',
      fetch: async (_url, init) => {
        expect(init?.redirect).toBe('manual');
        return Response.json(result(1));
      },
    });
    const heard: unknown[] = [];
    given.onmessage = (message) => heard.push(message);
    await given.send(ping);
    expect(heard).toEqual([result(1)]);
    expect(() => new RestClientTransport({ url: 'http://mcp.example.com/rest', fetch })).toThrow('use https');
  });

  it('gives up on what runs when it is closed, and says so once', async () => {
    let closed = 0;
    const { transport, posted } = await startTransport(() => undefined);
    transport.onclose = () => closed++;
    const running = transport.send(ping);
    running.catch(() => undefined);
    while (posted.length === 0) await new Promise(setImmediate);
    await transport.close();
    await transport.close();
    await expect(running).rejects.toMatchObject({ reason: 'unreachable' });
    expect(closed).toBe(1);
  });
});
