import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRandom } from '../../flows/attacks/support/random.ts';
import { type HeldCall, hostileAnswers, rightAnswer } from './hostile-answers.ts';
import { answerTo } from './recording-answers.ts';

/** A server that answers calls with what was never asked beside. */
export interface HostileServer {
  /** Returns its URL for one era. */
  url(era: 'legacy' | 'modern'): string;
  stop(): Promise<void>;
}

interface CallMessage {
  id?: unknown;
  method?: unknown;
  params?: { arguments?: { text?: string }; _meta?: { progressToken?: unknown } };
}

/** Reads what a call is, as far as a hostile server is interested in it. */
export function heldCall({ id, params }: CallMessage): HeldCall {
  return { id, marker: params?.arguments?.text ?? '', progressToken: params?._meta?.progressToken };
}

/** Starts one on loopback. */
export async function startHostileServer(seed: number): Promise<HostileServer> {
  const random = createRandom(seed);
  const running = new Set<HeldCall>();
  const done: HeldCall[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const era = request.url === '/modern' ? 'modern' : 'legacy';
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
      return;
    }
    const message = JSON.parse(Buffer.concat(chunks).toString('utf8')) as CallMessage;
    const { id, method } = message;
    if (method === (era === 'legacy' ? 'server/discover' : 'initialize')) {
      const error = { code: -32601, message: 'Method not found' };
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      return;
    }
    if (method !== 'tools/call') {
      const answer = answerTo(message, era);
      const session = method === 'initialize' ? { 'mcp-session-id': `hostile-${++sessions}` } : {};
      if (answer)
        response
          .writeHead(200, { 'content-type': 'application/json', ...session })
          .end(JSON.stringify(answer));
      else response.writeHead(202).end();
      return;
    }
    const call = heldCall(message);
    running.add(call);
    // Others come in between, so that there are calls to confuse it with.
    await new Promise((resolve) => setImmediate(resolve));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const others = [...running].filter((one) => one !== call);
    const knowledge = { others, done, unaddressed: 'account', isShared: false, era } as const;
    for (const text of hostileAnswers(call, knowledge, random)) {
      const frame = random.one(['', 'event: message\n', 'event: other\n', 'id: 1\n', ': x\n']);
      response.write(`${frame}data: ${text}\n\n`);
      if (random.once(4)) await new Promise((resolve) => setImmediate(resolve));
    }
    response.end(`data: ${rightAnswer(call, era)}\n\n`);
    running.delete(call);
    done.push(call);
    if (done.length > 50) done.shift();
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (era) => `http://127.0.0.1:${port}/${era}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

let sessions = 0;
