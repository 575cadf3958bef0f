import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modernRequest } from '../../../mcp/support/gate.ts';
import { ada } from '../../../support/gatehouse.ts';
import { nodeProgram } from '../../../support/node-program.ts';
import { obtainTokens } from '../../../support/oauth.ts';
import { runProgram } from '../../../support/program.ts';
import { grace } from '../../../support/served.ts';
import { initialize, send } from '../../attacks/support/doors.ts';
import { serveLargeAnswers } from './large-answers.ts';

/** A transport and an era. */
export type Door = 'session' | '2026-07-28' | 'sse' | 'rest';

/** All pairs of a route and a door that are tested; the empty route is a server of code. */
export const rows: [route: string, door: Door][] = [
  ['', 'session'],
  ['', '2026-07-28'],
  ['', 'sse'],
  ['', 'rest'],
  ['/json', 'session'],
  ['/json', '2026-07-28'],
  ['/json', 'sse'],
  ['/json', 'rest'],
  ['/unsized', '2026-07-28'],
  ['/events', 'session'],
  ['/events', '2026-07-28'],
  ['/programs', 'session'],
  ['/programs', '2026-07-28'],
  ['/shared', 'session'],
  ['/shared', '2026-07-28'],
];

/** How many calls are made, and the length of each answer's text. */
export interface Load {
  calls: number;
  bytes: number;
}

/**
 * What became of a call: its whole answer, an error, a response that visibly breaks off, or nothing of these.
 */
export interface Outcomes {
  whole: number;
  error: number;
  cut: number;
  unexplained: number;
}

/** A client that reads nothing before it is woken. */
export interface Sleeper {
  socket: Socket;
  /** Reads the rest, to the end of the connection or of what is awaited. */
  wake(isEnough?: (heard: string) => boolean): Promise<Heard>;
}

/** What a client got, in few bytes of memory. */
interface Heard {
  /** Runs of `x` stand there by their length: `<4000>`. */
  text: string;
  /** Length before that. */
  length: number;
}

/** A Gatehouse in a process of its own, in front of servers with large answers. */
export type LargeGatehouse = Awaited<ReturnType<typeof startLargeGatehouse>>;

/** Starts it. @param limits the setting of that name */
export async function startLargeGatehouse(limits: object) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-held-'));
  const json = await serveLargeAnswers('json');
  const events = await serveLargeAnswers('events');
  const unsized = await serveLargeAnswers('unsized');
  const program = nodeProgram('test/flows/limits/support/large-answers.ts');
  const routes = {
    json: { backend: { url: json.url } },
    unsized: { backend: { url: unsized.url } },
    events: { backend: { url: events.url } },
    programs: { backend: { ...program, process: 'account' } },
    shared: { backend: { ...program, process: 'shared' } },
  };
  const settings = JSON.stringify({ routes, limits });
  const people = JSON.stringify([ada, grace].map(({ email, password }) => [email, password]));
  const gatehouse = runProgram('test/flows/limits/support/large-gatehouse.ts', [folder, settings], {
    input: '',
    env: { PEOPLE: people },
  });
  const [text] = await gatehouse.waitFor('stdout', /\{.*\}\n/);
  const { url, port, metricsPort } = JSON.parse(text) as { url: string; port: number; metricsPort: number };
  const tokens = new Map<string, string>();
  return {
    listensAt: `http://127.0.0.1:${port}`,
    port,
    /** Returns a token for a path, obtained once. */
    async tokenOf(person: typeof ada, path: string): Promise<string> {
      const key = `${person.email} ${path}`;
      const known = tokens.get(key);
      if (known) return known;
      const at = { url, mcpUrl: `${url}${path}` };
      const { tokens: granted } = await obtainTokens(at, { person, scope: 'mcp', scopes: ['mcp'] });
      tokens.set(key, granted.access_token);
      return granted.access_token;
    },
    residentBytes(): number {
      const status = readFileSync(`/proc/${gatehouse.process.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
    },
    /** Returns a number of `GET /metrics`. */
    async metric(name: string): Promise<number> {
      const body = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const values = [...body.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))];
      return values.reduce((sum, [, value]) => sum + Number(value), 0);
    },
    async stop(): Promise<void> {
      await gatehouse.stop();
      await Promise.all([json, events, unsized].map((server) => server.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function dial(
  { port }: LargeGatehouse,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Sleeper {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const all = { Host: `localhost:${port}`, Connection: 'close', ...headers, ...length };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`,
  );
  return {
    socket,
    wake: (isEnough) =>
      new Promise((resolve) => {
        const chunks: string[] = [];
        let length = 0;
        const finish = (): void => resolve({ text: chunks.join(''), length });
        socket.setEncoding('latin1').on('data', (chunk: string) => {
          length += chunk.length;
          chunks.push(chunk.replace(/x{100,}/g, (run) => `<${run.length}>`));
          if (isEnough?.(chunk)) socket.destroy();
        });
        if (socket.destroyed) finish();
        else socket.once('close', finish);
        socket.resume();
      }),
  };
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Makes a small call for another account. @returns how long it took, in milliseconds */
export async function callSmall(gatehouse: LargeGatehouse, path: string, token: string): Promise<number> {
  const asked = modernRequest('tools/call', { name: 'small', arguments: {} });
  const headers = { ...json, authorization: `Bearer ${token}`, ...asked.headers };
  const answer = await send(gatehouse, path, { headers, body: JSON.stringify(asked.json) });
  if (!answer.body.includes('small')) throw new Error(`A small call was not served: ${answer.body}`);
  return answer.ms;
}

async function openSession(gatehouse: LargeGatehouse, path: string, token: string) {
  const headers = { ...json, authorization: `Bearer ${token}` };
  const begun = await send(gatehouse, path, { headers, body: initialize() });
  const inside = {
    ...headers,
    'mcp-session-id': String(begun.headers['mcp-session-id']),
    'mcp-protocol-version': '2025-11-25',
  };
  await send(gatehouse, path, {
    headers: inside,
    body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  });
  return inside;
}

/** Sends all calls, each over a connection that is not read; over HTTP+SSE they share the stream. */
export async function beginCalls(
  gatehouse: LargeGatehouse,
  [route, door]: (typeof rows)[number],
  { calls, bytes }: Load,
): Promise<Sleeper[]> {
  const path = `${route}/${door === 'sse' || door === 'rest' ? door : 'mcp'}`;
  const token = await gatehouse.tokenOf(ada, path);
  const bearer = { authorization: `Bearer ${token}` };
  const ids = Array.from({ length: calls }, (_, at) => at + 1);
  const params = { name: 'large', arguments: { bytes } };
  const call = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
  if (door === 'session') {
    const headers = await openSession(gatehouse, path, token);
    return ids.map((id) => dial(gatehouse, path, headers, call(id)));
  }
  if (door === 'rest') return ids.map((id) => dial(gatehouse, path, { ...json, ...bearer }, call(id)));
  if (door === '2026-07-28')
    return ids.map((id) => {
      const asked = modernRequest('tools/call', params, id);
      const headers = { ...json, ...bearer, ...(asked.headers as Record<string, string>) };
      return dial(gatehouse, path, headers, JSON.stringify(asked.json));
    });
  const stream = dial(gatehouse, path, { ...bearer, accept: 'text/event-stream' });
  const endpoint = await new Promise<string>((resolve) => {
    let heard = '';
    const hear = (chunk: Buffer): void => {
      heard += chunk.toString();
      const found = /event: endpoint\ndata: (\S+)\n\n/.exec(heard)?.[1];
      if (!found) return;
      stream.socket.off('data', hear);
      stream.socket.pause();
      resolve(found);
    };
    stream.socket.on('data', hear);
  });
  const post = (body: string) => send(gatehouse, endpoint, { headers: { ...json, ...bearer }, body });
  await post(initialize('2024-11-05', 'begin'));
  await post('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  await Promise.all(ids.map((id) => post(call(id))));
  return [stream];
}

/** Reads what the clients get, and says what became of each call. */
export async function finishCalls(sleepers: Sleeper[], door: Door, load: Load): Promise<Outcomes> {
  const outcomes: Outcomes = { whole: 0, error: 0, cut: 0, unexplained: 0 };
  let answers = 0;
  // The stream of HTTP+SSE stays open: all is there with the answer to `initialize` and one to each call.
  const isEnough = (chunk: string): boolean => {
    answers += chunk.split('"jsonrpc"').length - 1;
    return answers > load.calls;
  };
  const heard = await Promise.all(sleepers.map(({ wake }) => wake(door === 'sse' ? isEnough : undefined)));
  for (const { text, length } of heard) {
    const isCut = isBrokenOff(text, length);
    const plain = text.replace(/\r\n[0-9a-f]+\r\n/g, '');
    const runs = [...plain.matchAll(/(?:<\d+>|x)+/g)].map(([run]) => lengthOf(run));
    const whole = runs.filter((run) => run === load.bytes).length;
    const error = plain.split('"error":{"code":').length - 1;
    outcomes.whole += whole;
    outcomes.error += error;
    const missing = (door === 'sse' ? load.calls : 1) - whole - error;
    outcomes[isCut ? 'cut' : 'unexplained'] += missing;
  }
  return outcomes;
}

function lengthOf(run: string): number {
  return [...run.matchAll(/<(\d+)>|x/g)].reduce((sum, [, count = 1]) => sum + Number(count), 0);
}

/** Whether a client can tell that a response is not whole. @param got its length */
function isBrokenOff(text: string, got: number): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return true;
  const head = text.slice(0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? !text.endsWith('\r\n0\r\n\r\n') : got - end - 4 < Number(length);
}
