import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { callConnections } from './calls.ts';
import { type Gateway, type GatewayName, startGateway, stdioEcho } from './gateways.ts';
import type { Pace } from './pace.ts';
import { processTree, proportionalKilobytes } from './process-tree.ts';
import type { Row } from './report.ts';
import { callBody, checkEcho, headersFor, type Load, openSession } from './requests.ts';
import { collectGarbage, cores } from './server-process.ts';
import type { StdioLoadTask } from './stdio-load.ts';
import { startSubject } from './subjects.ts';
import { type Measured, rowOfRuns, takeTurns } from './turns.ts';
import { runWrk } from './wrk.ts';

/** Connections of the load, and calls under way at the server itself. */
const connections = 16;

/**
 * People who come before memory is first read, so that code that is loaded late and a heap that finds its size count for
 * none; of supergateway fewer, which starts processes for each.
 */
const warmUpPeople = (name: GatewayName): number => (name === 'supergateway' ? 10 : 150);

type Run = (seconds: number, connections: number) => Promise<Measured>;

/** Somebody whose turn it is, with a load for them. */
interface Contender {
  name: GatewayName | 'koa';
  run: Run;
}

/** Lets people in; each opens a session and uses the tool once. */
async function bringPeople({ url, admit }: Gateway, count: number): Promise<Load> {
  const tokens = await admit(count);
  const [sessions, body]: [string[], string] = [[], callBody('session')];
  for (const token of tokens) {
    const session = await openSession(url, token);
    const headers = headersFor('session', token);
    await checkEcho({ url, method: 'POST', headers, body, sessions: [session] });
    sessions.push(session);
  }
  return { url, method: 'POST', headers: headersFor('session', ''), body, sessions, tokens };
}

/** Memory of a gateway and of all it started, once garbage is collected. */
async function settledMemory({ server }: Gateway): Promise<{ kilobytes: number; processes: number }> {
  await collectGarbage(server);
  const tree = processTree(server.child.pid ?? 0);
  return { kilobytes: proportionalKilobytes(tree), processes: tree.length };
}

const underWrk =
  ({ server }: Gateway, load: Load, folder: string): Run =>
  (seconds, connections) =>
    runWrk(server, load, { folder, seconds, connections });

/** Calls the server over standard input and output itself. */
async function runStdio(seconds: number, depth: number): Promise<Measured> {
  const task: StdioLoadTask = { command: stdioEcho, seconds, depth };
  const program = fileURLToPath(new URL('stdio-load.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(
    'taskset',
    ['-c', cores.load, process.execPath, program, JSON.stringify(task)],
    { timeout: (seconds + 30) * 1000 },
  );
  return JSON.parse(stdout) as Measured;
}

/**
 * Puts contenders under load: with many connections, then with one, whose row is of the middle latency.
 * @param koa has turns beside that one connection, so that it is known how fast the machine was
 */
async function rowsOf(
  work: string,
  contenders: readonly Contender[],
  pace: Pace,
  koa?: Contender,
): Promise<Row[]> {
  const many = await takeTurns(contenders, pace, ({ run }, seconds) => run(seconds, connections));
  const alone = [...contenders, ...(koa ? [koa] : [])];
  const one = await takeTurns(alone, pace, ({ run }, seconds) => run(seconds, 1));
  const latencies = alone.map((contender, at): Row => {
    const row = rowOfRuns(`${work}, one connection`, contender.name, one[at] ?? []);
    const { p50, ...others } = row.details;
    return contender === koa ? row : { ...row, value: Number(p50), unit: 'ms', details: others };
  });
  return [...contenders.map(({ name }, at) => rowOfRuns(work, name, many[at] ?? [])), ...latencies];
}

/** Bare Koa under the load it has in all parts, whatever that of the others is. */
async function startKoa(folder: string): Promise<Contender & Pick<Gateway, 'stop'>> {
  const { server, url, token } = await startSubject('koa', folder);
  const load: Load = { url, method: 'POST', headers: headersFor('modern', token), body: callBody('modern') };
  return {
    name: 'koa',
    run: (seconds) => runWrk(server, load, { folder, seconds, connections: callConnections }),
    stop: () => server.stop(),
  };
}

/** One program over standard input and output behind each, and what one more person costs them in memory. */
async function measureStdio(pace: Pace, folder: string): Promise<Row[]> {
  const started: Pick<Gateway, 'stop'>[] = [];
  const contenders: Contender[] = [{ name: 'server itself', run: runStdio }];
  const memory: Row[] = [];
  try {
    const koa = await startKoa(folder);
    started.push(koa);
    for (const name of ['gatehouse', 'mcp-proxy', 'supergateway'] as const) {
      const gateway = await startGateway(name, folder, { people: warmUpPeople(name) + pace.people });
      started.push(gateway);
      await bringPeople(gateway, warmUpPeople(name));
      const before = await settledMemory(gateway);
      const load = await bringPeople(gateway, pace.people);
      const after = await settledMemory(gateway);
      memory.push({
        work: 'memory, idle person',
        subject: name,
        value: (after.kilobytes - before.kilobytes) / 1024 / pace.people,
        unit: 'MB',
        details: { people: pace.people, processes: after.processes, 'MB in all': after.kilobytes / 1024 },
      });
      contenders.push({ name, run: underWrk(gateway, load, folder) });
    }
    return [...(await rowsOf('gateway to stdio', contenders, pace, koa)), ...memory];
  } finally {
    await Promise.all(started.map((each) => each.stop()));
  }
}

/** A server reached by Streamable HTTP behind each, of its own and on the same core as its gateway. */
async function measureHttp(pace: Pace, folder: string): Promise<Row[]> {
  const gateways: Gateway[] = [];
  const contenders: Contender[] = [];
  const { people } = pace;
  const start = async (name: GatewayName, upstream?: string): Promise<Gateway> => {
    const gateway = await startGateway(name, folder, { people, ...(upstream && { upstream }) });
    gateways.push(gateway);
    return gateway;
  };
  try {
    for (const name of ['server itself', 'gatehouse', 'mcp-proxy library'] as const) {
      const server = await start('server itself');
      const gateway = name === 'server itself' ? server : await start(name, server.url);
      const load = await bringPeople(gateway, people);
      contenders.push({ name, run: underWrk(gateway, load, folder) });
    }
    return await rowsOf('gateway to HTTP', contenders, pace);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  }
}

/** Measures gateways, Gatehouse with people who logged in, the others without any check of who calls. */
export async function measureGateways(pace: Pace, folder: string): Promise<Row[]> {
  return [...(await measureStdio(pace, folder)), ...(await measureHttp(pace, folder))];
}
