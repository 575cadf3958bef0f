import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, type Received } from './elsewhere.ts';

/** A server that begins sessions well, and fails a call in the way its tool is called. */
export interface Faulty {
  url: string;
  received: Received[];
  /** Answers to calls that are not over. */
  open(): number;
  stop(): Promise<void>;
}

const eventStream = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };

type Fault = (response: ServerResponse, id: unknown, elsewhere: string) => void;

const status =
  (code: number, headers: Record<string, string> = {}, body = '<h1>No</h1>'): Fault =>
  (response) =>
    response.writeHead(code, { 'content-type': 'text/html', ...headers }).end(body);

/** The ways in which it fails, by the names of its tools. */
export const faults: Readonly<Record<string, Fault>> = {
  'answers never': () => undefined,
  'drips an answer': (response) => {
    response.writeHead(200, json);
    const timer = setInterval(() => response.write(' '), 50);
    response.once('close', () => clearInterval(timer));
  },
  'drips an event': (response) => {
    response.writeHead(200, eventStream);
    const timer = setInterval(() => response.write(': still here\n\n'), 50);
    response.once('close', () => clearInterval(timer));
  },
  'ends before the head': (response) => void response.destroy(),
  'ends in an answer': (response, id) => {
    response.writeHead(200, { ...json, 'content-length': '1000' });
    response.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[]}}`);
    setTimeout(() => response.destroy(), 20);
  },
  'ends in a stream': (response) => {
    response.writeHead(200, eventStream);
    response.write('data: {"jsonrpc":"2.0",');
    setTimeout(() => response.destroy(), 20);
  },
  'ends a stream early': (response) => response.writeHead(200, eventStream).end('data: {"jsonrpc":"2.0"\n\n'),
  'answers a page': (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
  'answers half': (response, id) =>
    response.writeHead(200, json).end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},`),
  'answers no HTTP': (response) => void response.socket?.end('hello\r\n\r\n'),
  'ends lines with LF': (response) =>
    void response.socket?.write('HTTP/1.1 200 OK\ncontent-type: application/json\ncontent-length: 2\n\n{}'),
  'ends lines with LF and closes': (response) => void response.socket?.end('HTTP/1.1 200 OK\n\n{}'),
  'ends chunks with LF': (response) =>
    void response.socket?.write(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\n{}\n0\n\n',
    ),
  'ends chunks of a stream with LF': (response) =>
    void response.socket?.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\nid: 1\n\n\n\n',
    ),
  'answers another id': (response) =>
    response.writeHead(200, json).end('{"jsonrpc":"2.0","id":"other","result":{"content":[]}}'),
  'answers 0': (response, id) =>
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result: 0 })),
  'answers null as error': (response, id) =>
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, error: null })),
  'answers nothing': (response) => response.writeHead(202).end(),
  'answers too much': (response) => {
    response.writeHead(200, json);
    response.end(`{"text":"${'x'.repeat(300_000)}"}`);
  },
  'sends too long an event': (response) => {
    response.writeHead(200, eventStream);
    response.write(`data: ${'x'.repeat(300_000)}`);
  },
  'nests too deep': (response, id) =>
    response
      .writeHead(200, json)
      .end(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
      ),
  'has too large a head': (response, id) =>
    response
      .writeHead(200, { ...json, 'x-large': 'x'.repeat(60_000) })
      .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[]}}`),
  'wants a login': (response, _id, elsewhere) =>
    status(401, {
      'www-authenticate': `Bearer resource_metadata="${elsewhere}/.well-known/oauth-protected-resource"`,
    })(response, _id, elsewhere),
  forbids: status(403),
  'is no such thing': status(405),
  'is broken': status(500),
  'is a bad gateway': status(502),
  'has no time': status(503),
  'has had enough': status(429, { 'retry-after': '10' }),
  'redirects by 302': (response, id, elsewhere) =>
    status(302, { location: `${elsewhere}/mcp` })(response, id, ''),
  'redirects by 307': (response, id, elsewhere) =>
    status(307, { location: `${elsewhere}/mcp` })(response, id, ''),
  'redirects by 308': (response, id, elsewhere) =>
    status(308, { location: '/other' })(response, id, elsewhere),
};

async function readBody(
  request: IncomingMessage,
): Promise<{ id?: unknown; method: string; params?: { name?: string } }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** @param elsewhere origin that redirects and challenges name */
export async function serveFaults(elsewhere: string): Promise<Faulty> {
  const open = new Set<ServerResponse>();
  const { origin, received, stop } = await listen(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = await readBody(request);
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    if (method === 'initialize') {
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'faulty', version: '1' },
      };
      response.writeHead(200, { ...json, 'mcp-session-id': randomUUID() });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      return;
    }
    const fault = faults[params?.name ?? ''];
    if (fault) {
      open.add(response);
      response.once('close', () => open.delete(response));
      fault(response, id, elsewhere);
    } else {
      response.writeHead(200, json);
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'well' }] } }),
      );
    }
  });
  return { url: `${origin}/mcp`, received, open: () => open.size, stop };
}
