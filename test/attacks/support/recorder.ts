import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { McpLike } from '../../../src/mcp/protocol.ts';
import { nodeProgram } from '../../support/node-program.ts';
import type { Received } from './oracle.ts';
import { answerTo } from './recording-answers.ts';

/** Servers that take and answer anything, and keep each message that they get as it came. */
export interface Recorder {
  /** Returns the URL of a server that speaks one era. */
  url(target: string, era: 'legacy' | 'modern'): string;
  /** Returns how the program is started that records for a target. */
  program(target: string): { command: string; args: string[] };
  /** Creates an own server that takes anything, of no SDK. */
  ownServer(target: string): McpLike;
  /** Notes what an own server of an SDK was asked. */
  note(received: Received): void;
  stop(): Promise<void>;
}

/** Starts them on loopback. @param onReceived is called at once with each message that got through */
export async function startRecorder(onReceived: (received: Received) => void): Promise<Recorder> {
  const server = createServer((request, response) => void take(request, response, onReceived));
  const sockets = new Set<Socket>();
  const lines = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    createInterface({ input: socket }).on('line', (line) => {
      onReceived({ ...(JSON.parse(line) as { target: string; text: string }), era: 'legacy' });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => lines.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { port: linePort } = lines.address() as AddressInfo;
  return {
    url: (target, era) => `http://127.0.0.1:${port}/${era}/${target}`,
    program: (target) => nodeProgram('test/attacks/support/recording-program.ts', String(linePort), target),
    ownServer: (target) => createRawServer(target, onReceived),
    note: onReceived,
    async stop() {
      for (const socket of sockets) socket.destroy();
      const closed = [server, lines].map((one) => new Promise((resolve) => one.close(resolve)));
      server.closeAllConnections();
      await Promise.all(closed);
    },
  };
}

async function take(
  request: IncomingMessage,
  response: ServerResponse,
  onReceived: (received: Received) => void,
): Promise<void> {
  const [, era, target = ''] = (request.url ?? '').split('/') as [string, 'legacy' | 'modern', string];
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    return;
  }
  const text = Buffer.concat(chunks).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { method } = (value ?? {}) as { method?: unknown };
  // A server of one era refuses the first message of the other, so that the gateway finds out which it is.
  const isOther = method === (era === 'legacy' ? 'server/discover' : 'initialize');
  if (!isOther) onReceived({ target, era, text, headers: request.headers });
  const list = Array.isArray(value) ? value : [value];
  const error = { code: -32601, message: 'Method not found' };
  const answers = isOther
    ? [{ jsonrpc: '2.0', id: (value as { id?: unknown }).id ?? null, error }]
    : list.flatMap((one) => answerTo(one, era) ?? []);
  const headers = {
    'content-type': 'application/json',
    ...(method === 'initialize' && { 'mcp-session-id': `${target}-${++sessions}` }),
  };
  if (answers.length === 0) response.writeHead(202).end();
  else if (method === 'subscriptions/listen') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const { notifications = {} } = (value as { params?: { notifications?: object } }).params ?? {};
    const said = {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications },
    };
    response.write(`data: ${JSON.stringify(said)}\n\n`);
  } else
    response
      .writeHead(isOther ? 404 : 200, headers)
      .end(JSON.stringify(Array.isArray(value) ? answers : answers[0]));
}

let sessions = 0;

function createRawServer(target: string, onReceived: (received: Received) => void): McpLike {
  let transport: Transport | undefined;
  return {
    async connect(connected) {
      transport = connected as Transport;
      transport.onmessage = (message) => {
        onReceived({ target, era: 'legacy', text: JSON.stringify(message) });
        const answer = answerTo(message, 'legacy');
        if (answer) void transport?.send(answer as JSONRPCMessage).catch(() => undefined);
      };
      await transport.start();
    },
    async close() {
      await transport?.close();
    },
  };
}
