// Flows through src/mcp/streams/held-bytes.ts and src/mcp/streams/held-writer.ts: a Gatehouse in a process of its own, and
// clients that do not read.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modernRequest } from '../../mcp/support/gate.ts';
import { ada } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { grace } from '../../support/served.ts';
import { initialize, send } from '../attacks/support/doors.ts';
import { largeBytes, serveLargeAnswers } from './support/large-answers.ts';

const calls = 100;
const megabyte = 1_000_000;
/** The promise of T-205: memory above that at the start. */
const mostGrowth = 400 * megabyte;

type Door = 'session' | '2026-07-28' | 'sse' | 'rest';

/** What became of a call. */
type Outcome = 'whole' | 'error' | 'cut';

let program: Program;
let folder: string;
let origin: string;
let url: string;
const backends: { stop(): Promise<void> }[] = [];
const tokens = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-held-'));
  const [sized, events, unsized] = [
    await serveLargeAnswers('json'),
    await serveLargeAnswers('events'),
    await serveLargeAnswers('unsized'),
  ];
  backends.push(sized, events, unsized);
  const pipe = { ...nodeProgram('test/flows/limits/support/large-answers.ts'), process: 'shared' };
  const settings = {
    routes: {
      json: { backend: { url: sized.url } },
      unsized: { backend: { url: unsized.url } },
      events: { backend: { url: events.url } },
      pipe: { backend: pipe },
    },
    limits: { heldBytes: { patienceSeconds: 1 } },
  };
  program = runProgram('test/flows/limits/support/large-gatehouse.ts', [folder, JSON.stringify(settings)], {
    input: '',
    env: { PEOPLE: JSON.stringify([ada, grace].map(({ email, password }) => [email, password])) },
  });
  const [text] = await program.waitFor('stdout', /\{.*\}\n/);
  const started = JSON.parse(text) as { url: string; port: number };
  url = started.url;
  origin = `http://127.0.0.1:${started.port}`;
  process.env.HELD_PID = String(program.process.pid);
}, 120_000);

afterAll(async () => {
  await program.stop();
  await Promise.all(backends.map((backend) => backend.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function tokenOf(person: typeof ada, path: string): Promise<string> {
  const key = `${person.email} ${path}`;
  const known = tokens.get(key);
  if (known) return known;
  const { tokens: given } = await obtainTokens(
    { url, mcpUrl: `${url}${path}` },
    { person, scope: 'mcp', scopes: ['mcp'] },
  );
  tokens.set(key, given.access_token);
  return given.access_token;
}

function residentBytes(): number {
  const status = readFileSync(`/proc/${program.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The answers that the log names as lost. */
function lostInLog(): number {
  return program.written.stderr.split('\n').filter((line) => line.includes('"loss":')).length;
}

/** A connection whose client reads nothing until it is told to. */
interface Sleeper {
  socket: Socket;
  /** Reads all there is, until the end or until nothing comes any more. */
  wake(): Promise<string>;
}

function dial(path: string, headers: Record<string, string>, method: string, body = ''): Sleeper {
  const { port, hostname } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const lines = Object.entries({ Host: `localhost:${port}`, Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(
    `${method} ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return {
    socket,
    wake() {
      const chunks: Buffer[] = [];
      return new Promise((resolve) => {
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
        socket.resume();
      });
    },
  };
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Whether somebody else is served in time. */
async function serveOthers(path: string, token: string): Promise<number> {
  const asked = modernRequest('tools/call', { name: 'small', arguments: {} });
  const answer = await send({ listensAt: origin }, path, {
    headers: { ...json, authorization: `Bearer ${token}`, ...asked.headers },
    body: JSON.stringify(asked.json),
  });
  expect(answer.body).toContain('small');
  return answer.ms;
}

async function session(path: string, token: string): Promise<Record<string, string>> {
  const headers = { ...json, authorization: `Bearer ${token}` };
  const begun = await send({ listensAt: origin }, path, { headers, body: initialize() });
  const inside = {
    ...headers,
    'mcp-session-id': String(begun.headers['mcp-session-id']),
    'mcp-protocol-version': '2025-11-25',
  };
  const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  await send({ listensAt: origin }, path, { headers: inside, body: initialized });
  return inside;
}

const call = (id: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'large', arguments: {} } });

/** Sends all calls, each over a connection that is not read; over HTTP+SSE they share the stream. */
async function beginCalls(route: string, door: Door): Promise<Sleeper[]> {
  const path = `${route}/${door === 'sse' || door === 'rest' ? door : 'mcp'}`;
  const token = await tokenOf(ada, path);
  const bearer = { authorization: `Bearer ${token}` };
  const ids = Array.from({ length: calls }, (_, at) => at + 1);
  if (door === 'session') {
    const headers = await session(path, token);
    return ids.map((id) => dial(path, headers, 'POST', call(id)));
  }
  if (door === 'rest') return ids.map((id) => dial(path, { ...json, ...bearer }, 'POST', call(id)));
  if (door === '2026-07-28')
    return ids.map((id) => {
      const asked = modernRequest('tools/call', { name: 'large', arguments: {} }, id);
      return dial(
        path,
        { ...json, ...bearer, ...(asked.headers as object) },
        'POST',
        JSON.stringify(asked.json),
      );
    });
  const stream = dial(path, { ...bearer, accept: 'text/event-stream' }, 'GET');
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
  const post = (body: string) =>
    send({ listensAt: origin }, endpoint, { headers: { ...json, ...bearer }, body });
  await post(initialize('2024-11-05', 'begin'));
  await post('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  await Promise.all(ids.map((id) => post(call(id))));
  return [stream];
}

/** What became of the calls of one connection. */
function outcomesOf(heard: string, door: Door): Outcome[] {
  const wholes = heard.split('x'.repeat(largeBytes)).length - 1;
  const errors = heard.match(/too_many_held_bytes/g)?.length ?? 0;
  const found: Outcome[] = [
    ...Array.from({ length: wholes }, () => 'whole' as const),
    ...Array.from({ length: errors }, () => 'error' as const),
  ];
  if (door === 'sse') return found;
  return found.length > 0 ? found.slice(0, 1) : ['cut'];
}

const withoutFraming = (heard: string): string => heard.replace(/\r\n[0-9a-f]+\r\n/g, '');

describe('100 answers of 15 MB to clients that do not read', () => {
  it.each([
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
    ['/pipe', 'session'],
    ['/pipe', '2026-07-28'],
  ] as [string, Door][])(
    'take little memory, leave others served, and none is lost without an error, from the server at "%s" by %s (FA-07, T-205)',
    async (route, door) => {
      const other = await tokenOf(grace, `${route}/mcp`);
      await serveOthers(`${route}/mcp`, other);
      const lostBefore = lostInLog();
      const start = residentBytes();
      let most = start;
      const watch = setInterval(() => {
        most = Math.max(most, residentBytes());
      }, 20);
      const sleepers = await beginCalls(route, door);
      const waits: number[] = [];
      for (let round = 0; round < 8; round++) {
        waits.push(await serveOthers(`${route}/mcp`, other));
        await sleep(300);
      }
      clearInterval(watch);
      const heard = await Promise.all(sleepers.map((sleeper) => sleeper.wake()));
      const outcomes = heard.flatMap((text) => outcomesOf(withoutFraming(text), door));
      const count = (wanted: Outcome): number => outcomes.filter((outcome) => outcome === wanted).length;
      const unheard = calls - outcomes.length;
      const figures = {
        route,
        door,
        grownMegabytes: Math.round((most - start) / megabyte),
        slowestOtherMs: Math.round(Math.max(...waits)),
        whole: count('whole'),
        error: count('error'),
        cut: count('cut') + unheard,
        logged: lostInLog() - lostBefore,
      };
      process.stdout.write(`${JSON.stringify(figures)}\n`);
      expect(figures.grownMegabytes * megabyte).toBeLessThan(mostGrowth);
      expect(figures.slowestOtherMs).toBeLessThan(patience(2000));
      expect(figures.whole + figures.error + figures.cut).toBe(calls);
      if (figures.cut > 0) expect(figures.logged).toBeGreaterThan(0);
    },
    60_000,
  );
});
