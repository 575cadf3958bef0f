import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createBrowserStub } from '../support/browser-stub.ts';
import { processesWith } from '../support/processes.ts';
import type { ModelServer } from './model-server.ts';
import { createPerson, type Person, plainText } from './person.ts';
import type { Place } from './place.ts';

/** A running program of the workplace. */
export interface Started {
  process: ChildProcess;
  /** Everything it wrote, without the escape sequences of a terminal. */
  output(): string;
  write(text: string): void;
  /**
   * Waits until it wrote something new that matches.
   * @throws Error if it ends before, or takes too long
   */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  ended: Promise<number | null>;
  /** Ends it with the programs it started. */
  stop(): Promise<void>;
}

/** A machine with one program: a home of its own, the person in front of it, and the Gatehouse it is given the URL of. */
export interface Workplace {
  place: Place;
  /** The bare URL that the program is given. */
  url: string;
  transport: 'http' | 'sse';
  home: string;
  /** The folder into which the program was installed. */
  installed: string;
  env: Readonly<Record<string, string>>;
  person: Person;
  model: ModelServer;
  /** Starts a program of the folder's `node_modules/.bin`, or another by its path. */
  start(command: string, args: readonly string[], env?: Record<string, string>): Started;
  /**
   * Runs a program to its end.
   * @returns what it wrote on standard output and standard error
   * @throws Error if it fails or takes too long
   */
  run(command: string, args: readonly string[], options?: RunOptions): Promise<string>;
  /** Ends every program that was started here, and removes the home. */
  close(): Promise<void>;
}

/** How a program is run to its end. */
export interface RunOptions {
  env?: Record<string, string>;
  timeoutMs?: number;
  input?: string;
}

const patienceMs = 180_000;
const forceMs = 3000;
/** Marks each process of a workplace, so that one which left its group is found. */
const marker = 'GATEHOUSE_CLIENTS_WORKPLACE';

/** Variables with which programs report nothing and update nothing. */
const quiet = {
  DO_NOT_TRACK: '1',
  NO_UPDATE_NOTIFIER: '1',
  NO_COLOR: '1',
  MCPORTER_DISABLE_UPDATE_CHECK: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  COPILOT_AUTO_UPDATE: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
};

function environment(home: string, browserFolder: string, browser: string, installed: string) {
  const path = [
    browserFolder,
    join(installed, 'node_modules/.bin'),
    dirname(process.execPath),
    ...'/usr/local/bin:/usr/bin:/bin'.split(':'),
  ];
  return {
    PATH: path.join(delimiter),
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local/share'),
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_RUNTIME_DIR: join(home, '.run'),
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    USER: 'person',
    BROWSER: browser,
    [marker]: home,
    ...quiet,
  };
}

/**
 * Sets up a workplace with an empty home.
 * @param installed the folder into which the program was installed
 */
export async function openWorkplace(
  place: Place,
  transport: 'http' | 'sse',
  installed: string,
  model: ModelServer,
): Promise<Workplace> {
  const home = await mkdtemp(join(tmpdir(), 'gatehouse-home-'));
  for (const folder of ['tmp', '.run', 'project', '.config', '.local/share', '.cache'])
    await mkdir(join(home, folder), { recursive: true, mode: 0o700 });
  const browser = await createBrowserStub(home);
  const person = createPerson(place, browser);
  const env = environment(home, browser.folder, browser.program, installed);
  const running = new Set<Started>();

  function start(command: string, args: readonly string[], more: Record<string, string> = {}): Started {
    const path = command.includes('/') ? command : join(installed, 'node_modules/.bin', command);
    const child = spawn(path, args, {
      cwd: join(home, 'project'),
      stdio: 'pipe',
      detached: true,
      env: { ...env, ...more },
    });
    let written = '';
    let read = 0;
    const waiting = new Set<() => void>();
    const tell = (): void => {
      for (const look of waiting) look();
    };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        written += text;
        person.read(text);
        tell();
      });
    child.stdin.on('error', () => undefined);
    let isOver = false;
    const ended = new Promise<number | null>((resolve) => {
      const end = (code: number | null): void => {
        isOver = true;
        person.read('\n');
        tell();
        resolve(code);
      };
      child.once('close', end).once('error', (error) => {
        written += error.message;
        end(null);
      });
    });
    const signal = (name: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, name);
      } catch {
        // The group has ended.
      }
    };
    const started: Started = {
      process: child,
      output: () => plainText(written),
      write: (text) => child.stdin.write(text),
      waitFor(pattern, timeoutMs = patienceMs) {
        return new Promise((resolve, reject) => {
          const fail = (why: string): void => {
            done();
            reject(new Error(`${command} ${why}: ${tail(plainText(written))}`));
          };
          const timer = setTimeout(() => fail(`did not write ${pattern} in time`), timeoutMs);
          const done = (): void => {
            clearTimeout(timer);
            waiting.delete(look);
          };
          const look = (): void => {
            const text = plainText(written);
            const match = pattern.exec(text.slice(read));
            if (match) {
              read += match.index + match[0].length;
              done();
              resolve(match);
            } else if (isOver) fail(`ended before it wrote ${pattern}`);
          };
          waiting.add(look);
          look();
        });
      },
      ended,
      async stop() {
        signal('SIGTERM');
        const force = setTimeout(() => signal('SIGKILL'), forceMs);
        await ended;
        clearTimeout(force);
        running.delete(started);
      },
    };
    running.add(started);
    return started;
  }

  return {
    place,
    url: transport === 'sse' ? place.sseUrl : place.mcpUrl,
    transport,
    home,
    installed,
    env,
    person,
    model,
    start,
    async run(command, args, { env: more = {}, timeoutMs = patienceMs, input = '' } = {}) {
      const started = start(command, args, more);
      started.process.stdin?.end(input);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        void started.stop();
      }, timeoutMs);
      const code = await started.ended;
      clearTimeout(timer);
      await started.stop();
      if (isLate || code !== 0)
        throw new Error(
          `${command} ${args[0] ?? ''} ${isLate ? 'took too long' : `ended with ${code}`}: ${tail(started.output())}`,
        );
      return started.output();
    },
    async close() {
      for (const started of [...running]) await started.stop();
      for (const pid of processesWith(marker, home)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
      person.stop();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Returns the command and arguments that run a program of the workplace in a terminal of 400 columns, so that it breaks no URL.
 * For `start` and `run`.
 */
export function inTerminal(
  { installed }: Workplace,
  command: string,
  args: readonly string[],
): [string, string[]] {
  const words = [join(installed, 'node_modules/.bin', command), ...args];
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return ['/usr/bin/script', ['-qefc', `stty cols 400 rows 60; exec ${quoted}`, '/dev/null']];
}

/** Returns the end of an output, for an error. */
function tail(output: string): string {
  return output.trim().slice(-1500);
}
