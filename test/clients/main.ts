import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startModelServer } from './model-server.ts';
import { type ClientProgram, type StepName, stepNames } from './program.ts';
import { programs } from './programs.ts';
import { type ProgramResult, recordProgram, writeGenerated } from './record.ts';
import { endVisits, type Sent, takeSteps } from './steps.ts';

const help = `Takes the MCP clients that people use, as npm has them, from the bare URL of a Gatehouse to a tool call.

  scripts/test --clients [names] [options]

  --steps <steps>   some of: ${stepNames.join(', ')} (with commas; all by default)
  --folder <path>   installs there, and finds there what was installed before; a scratch folder by default
  --record          keeps what the programs sent in test/clients/recorded, and generates from it the table in docs/clients.md,
                    the registrations of the client profiles, and their versions in docs/doctor-checks.md
  --generate        only generates these again, from what is kept
  --logs <path>     keeps there the log of each Gatehouse at which a step failed
  --json            the results as JSON on standard output
  --list            the names of the programs
  --help            this text

Each program runs with a home of its own. It needs npm and its registry, and nothing else of the network.
It ends with 1 if a step failed that the program can do, or if a program could not be installed.
`;

function tell(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

const hosts = fileURLToPath(new URL('hosts', import.meta.url));

/** Installs a program in a folder of its own, with the npm settings of the user but not the home. @returns its version */
async function install(program: ClientProgram, folder: string, home: string): Promise<string> {
  const manifest = join(folder, 'package.json');
  const wanted = JSON.stringify({ private: true, description: program.packages.join(' ') });
  const marker = join(folder, 'installed.json');
  if ((await readFile(marker, 'utf8').catch(() => '')) !== wanted) {
    await mkdir(folder, { recursive: true });
    await mkdir(home, { recursive: true });
    await writeFile(manifest, wanted);
    const { PATH = '', HOME = '', ...rest } = process.env;
    // npm runs on the machine's own Node, as it does for people.
    const path = PATH.split(delimiter).filter((entry) => !entry.endsWith('node_modules/.bin'));
    await promisify(execFile)(
      'npm',
      ['install', '--no-audit', '--no-fund', '--loglevel=error', ...program.packages],
      {
        cwd: folder,
        timeout: 600_000,
        env: {
          npm_config_userconfig: join(HOME, '.npmrc'),
          npm_config_cache: join(home, 'cache'),
          ...rest,
          PATH: path.join(delimiter),
          HOME: home,
        },
      },
    );
    await writeFile(marker, wanted);
  }
  await cp(hosts, join(folder, 'hosts'), { recursive: true });
  const name = program.packages[0].replace(/(?<=.)@[^@]*$/, '');
  const installed = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(installed) as { version: string }).version;
}

function choose(names: readonly string[]): readonly ClientProgram[] {
  const unknown = names.find((name) => !programs.some((program) => program.name === name));
  if (unknown !== undefined)
    throw new Error(
      `There is no program ${unknown}. There are: ${programs.map(({ name }) => name).join(', ')}.`,
    );
  return names.length === 0 ? programs : programs.filter(({ name }) => names.includes(name));
}

function chooseSteps(given: string | undefined): readonly StepName[] {
  if (given === undefined) return stepNames;
  const names = given.split(',');
  const unknown = names.find((name) => !(stepNames as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new Error(`There is no step ${unknown}. There are: ${stepNames.join(', ')}.`);
  return stepNames.filter((step) => names.includes(step));
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      steps: { type: 'string' },
      folder: { type: 'string' },
      record: { type: 'boolean' },
      generate: { type: 'boolean' },
      logs: { type: 'string' },
      json: { type: 'boolean' },
      list: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  if (values.generate) return writeGenerated();
  const chosen = choose(positionals);
  const only = chooseSteps(values.steps);
  if (values.list) {
    process.stdout.write(`${chosen.map(({ name, title }) => `${name}  ${title}`).join('\n')}\n`);
    return;
  }
  const folder = values.folder
    ? resolve(values.folder)
    : await mkdtemp(join(tmpdir(), 'gatehouse-programs-'));
  const { logs } = values;
  if (logs !== undefined) await mkdir(logs, { recursive: true });
  const model = await startModelServer();
  const results: ProgramResult[] = [];
  try {
    for (const program of chosen) {
      const { name, title } = program;
      const date = new Date().toISOString().slice(0, 10);
      const result: ProgramResult = { name, title, version: '', date, steps: [] };
      const sent: Sent[] = [];
      results.push(result);
      try {
        result.version = await install(program, join(folder, name), join(folder, 'npm-home'));
      } catch (error) {
        const { stderr = '', message } = error as Error & { stderr?: string };
        result.notInstalled = (stderr || message).trim().slice(-1000);
        tell(`${name}: not installed: ${result.notInstalled}`);
        continue;
      }
      await takeSteps(program, {
        installed: join(folder, name),
        model,
        only,
        tell(step) {
          result.steps.push(step);
          const note = step.note === undefined ? '' : `: ${step.note}`;
          tell(`${name} ${result.version}  ${step.step}  ${step.outcome} (${step.seconds} s)${note}`);
        },
        keep: (one) => sent.push(one),
        keepLog: (place) => {
          if (logs !== undefined)
            void writeFile(join(logs, `${name}-${place.name}.log`), place.log()).catch(() => undefined);
        },
      });
      if (values.record) await recordProgram(result, sent);
    }
    if (values.record) await writeGenerated();
  } finally {
    await model.stop();
    if (!values.folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  if (values.json) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
  const count = (outcome: string): number =>
    results.flatMap(({ steps }) => steps).filter((step) => step.outcome === outcome).length;
  const missing = results.filter(({ notInstalled }) => notInstalled !== undefined);
  tell(
    `${results.length} programs: ${count('passed')} steps passed, ${count('failed')} failed, ${count('cannot')} cannot be done by the program; ${missing.length} not installed.`,
  );
  if (count('failed') > 0 || missing.length > 0) process.exitCode = 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    tell('Interrupted.');
    void endVisits().finally(() => process.exit(1));
  });

await main().catch((error: Error) => {
  tell(error.message);
  process.exitCode = 1;
});
