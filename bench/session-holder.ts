// Opens sessions, then a stream on each, and holds them: a child of the bench, on the core of the load.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { headersFor, initializeBody, initializedBody } from './requests.ts';

/** What the bench asks for. */
export interface HolderTask {
  url: string;
  token: string;
  count: number;
}

const { url, token, count } = JSON.parse(process.argv[2] ?? '') as HolderTask;
const { 'MCP-Protocol-Version': revision = '', ...headers } = headersFor('session', token);
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

async function send(method: string, more: Record<string, string>, body?: string): Promise<IncomingMessage> {
  const outgoing = request(url, {
    method,
    agent: method === 'GET' ? false : agent,
    timeout: 15_000,
    headers: { ...headers, ...more },
  });
  outgoing.once('timeout', () => outgoing.destroy(new Error('no answer in 15 s')));
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.resume();
  if (method !== 'GET') await once(response, 'end');
  return response;
}

/** Does something `count` times, a few at once; gives how often it succeeded, and the seconds it took. */
async function repeat(once: (index: number) => Promise<boolean>): Promise<{ done: number; seconds: number }> {
  const startedAt = performance.now();
  let [next, done] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < count) if (await once(next++).catch(() => false)) done++;
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return { done, seconds: (performance.now() - startedAt) / 1000 };
}

const sessions: string[] = [];
const opened = await repeat(async () => {
  const session = (await send('POST', {}, initializeBody)).headers['mcp-session-id'];
  if (session === undefined) return false;
  const ready = { 'Mcp-Session-Id': String(session), 'MCP-Protocol-Version': revision };
  await send('POST', ready, initializedBody);
  sessions.push(String(session));
  return true;
});
process.send?.(opened);

await once(process, 'message');
const streams = await repeat(async (index) => {
  const named = { 'Mcp-Session-Id': sessions[index] ?? '', 'MCP-Protocol-Version': revision };
  return (await send('GET', { ...named, Accept: 'text/event-stream' })).statusCode === 200;
});
process.send?.(streams);
await once(process, 'message');
process.exit(0);
