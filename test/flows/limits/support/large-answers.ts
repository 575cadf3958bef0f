import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

const texts = new Map<number, Buffer>();

/** Returns a text of so many bytes, made once. */
export function textOf(bytes: number): Buffer {
  const text = texts.get(bytes) ?? Buffer.alloc(bytes, 'x');
  texts.set(bytes, text);
  return text;
}

/** How one of these servers answers. */
export type Shape = 'json' | 'events' | 'unsized';

interface Asked {
  id?: unknown;
  method?: string;
  params?: { name?: string; arguments?: { bytes?: number }; protocolVersion?: string };
}

/** What the server answers, in front of and behind the text of a call; undefined for what needs no answer. */
function answerTo({
  id,
  method,
  params,
}: Asked): { before: string; text?: Buffer; after?: string } | undefined {
  if (id === undefined || method === undefined) return undefined;
  const whole = (content: object): { before: string } => ({
    before: JSON.stringify({ jsonrpc: '2.0', id, ...content }),
  });
  if (method === 'initialize')
    return whole({
      result: {
        protocolVersion: params?.protocolVersion ?? '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'large', version: '1' },
      },
    });
  if (method === 'tools/list')
    return whole({
      result: { tools: ['large', 'small'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
    });
  if (method === 'ping') return whole({ result: {} });
  if (method !== 'tools/call') return whole({ error: { code: -32601, message: 'Method not found' } });
  return {
    before: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`,
    text: params?.name === 'large' ? textOf(params.arguments?.bytes ?? 0) : Buffer.from('small'),
    after: '"}]}}',
  };
}

/** Serves large answers at a URL. */
export async function serveLargeAnswers(shape: Shape): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(async (request, response: ServerResponse) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = answerTo(JSON.parse(Buffer.concat(chunks).toString()) as Asked);
    if (!answer) return void response.writeHead(202).end();
    const { before, text = Buffer.alloc(0), after = '' } = answer;
    const length = Buffer.byteLength(before) + text.length + after.length;
    if (shape === 'events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${before}`);
    } else {
      const sized = shape === 'json' ? { 'content-length': String(length) } : {};
      response.writeHead(200, { 'content-type': 'application/json', ...sized });
      response.write(before);
    }
    response.write(text);
    response.end(shape === 'events' ? `${after}\n\n` : after);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

// Run as a program, it speaks over its standard input and output.
if (process.argv[1] === import.meta.filename) {
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = answerTo(JSON.parse(line) as Asked);
    if (!answer) continue;
    const { before, text = Buffer.alloc(0), after = '' } = answer;
    process.stdout.write(before);
    process.stdout.write(text);
    process.stdout.write(`${after}\n`);
  }
}
