import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { callWorks, measureCalls } from './calls.ts';
import { measureCluster } from './cluster.ts';
import { measureColdStart } from './cold-start.ts';
import { measureDurableWrite } from './disk.ts';
import { measureGateways } from './gateway-calls.ts';
import { judge } from './goals.ts';
import { issuanceWorks, measureIssuance } from './issuance.ts';
import { issuerWorks, measureIssuers } from './issuer-endpoints.ts';
import { type Pace, quick, steady } from './pace.ts';
import { installPeers } from './peer-installation.ts';
import { formatGoals, formatRows, type Row } from './report.ts';
import { measureSessions } from './sessions.ts';

const help = `Measures Gatehouse beside what a team could use instead, all in one run, and holds it against our goals.

  npm run bench -- [options]

  --only <parts>   some of: modern, session, stateless, refused, sessions, cold, exchange, refresh, register,
                   metadata, gateway, cluster (with commas; all by default)
  --quick          one short round each: a first look, not a number to keep
  --json           the rows and goals as JSON on standard output
  --help           this text

Needs Linux with two cores, wrk (Debian: apt-get install wrk) and taskset; cluster needs PostgreSQL 15 or later, too. Servers run on core 0, the load on core 1.
Only ratios inside one run mean anything: a machine changes by a third from one hour to the next.
`;

type Part = (pace: Pace, folder: string) => Promise<Row[]>;

const parts: Readonly<Record<string, Part>> = {
  modern: (pace, folder) => measureCalls(callWorks.modern, pace, folder),
  session: (pace, folder) => measureCalls(callWorks.session, pace, folder),
  stateless: (pace, folder) => measureCalls(callWorks.stateless, pace, folder),
  refused: (pace, folder) => measureCalls(callWorks.refused, pace, folder),
  sessions: measureSessions,
  cold: (pace, folder) => measureColdStart(pace.rounds * 3, folder),
  exchange: (pace, folder) => measureIssuance(issuanceWorks.exchange, pace, folder),
  refresh: (pace, folder) => measureIssuance(issuanceWorks.refresh, pace, folder),
  register: (pace, folder) => measureIssuers(issuerWorks.register, pace, folder),
  metadata: (pace, folder) => measureIssuers(issuerWorks.metadata, pace, folder),
  gateway: measureGateways,
  cluster: measureCluster,
};

/** From here on a machine has other things to do, and the ratios suffer. */
const busyPercent = 20;

function tell(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

async function checkMachine(): Promise<void> {
  const has = (program: string): Promise<boolean> =>
    promisify(execFile)('which', [program]).then(
      () => true,
      () => false,
    );
  for (const program of ['wrk', 'taskset'])
    if (!(await has(program))) throw new Error(`The bench needs ${program}. See: npm run bench -- --help`);
  if (cpus().length < 2) throw new Error('The bench needs two cores: one for the server, one for the load.');
}

/** How much of the last ten seconds something waited for a processor, in per cent; 0 where Linux does not say. */
async function waitedForProcessor(): Promise<number> {
  const pressure = await readFile('/proc/pressure/cpu', 'utf8').catch(() => '');
  return Number(/^some avg10=([\d.]+)/.exec(pressure)?.[1] ?? 0);
}

async function measure(names: readonly string[], pace: Pace): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  const rows: Row[] = [];
  try {
    for (const name of names) {
      tell(`Measuring: ${name} ...`);
      const measured = await parts[name]?.(pace, folder).catch((error: Error) => {
        tell(`${name} was not measured: ${error.message}`);
        process.exitCode = 1;
      });
      rows.push(...(measured ?? []));
    }
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const names = values.only?.split(',') ?? Object.keys(parts);
  const unknown = names.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined)
    throw new Error(`There is no part ${unknown}. There are: ${Object.keys(parts).join(', ')}.`);
  await checkMachine();
  await installPeers(tell);
  const waited = await waitedForProcessor();
  if (waited > busyPercent)
    tell(
      `This machine is busy: ${waited} % of the time something waited for a processor. Do not keep the numbers.`,
    );
  const rows = await measure(names, values.quick ? quick : steady);
  const goals = judge(rows);
  const durableMs = (await measureDurableWrite(tmpdir())).toPrecision(2);
  const machine = `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, a durable write in ${durableMs} ms`;
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ machine, rows, goals }, undefined, 2)}\n`
      : `${machine}\n\n${formatRows(rows)}\n\n${formatGoals(goals)}\n`,
  );
}

await main().catch((error: Error) => {
  tell(error.message);
  process.exitCode = 1;
});
