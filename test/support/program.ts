import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A program as a person runs it, with what it wrote so far. */
export interface Program {
  process: ChildProcess;
  written: { stdout: string; stderr: string };
  /** Its exit code; null where a signal ended it. */
  ended: Promise<number | null>;
  /** Waits until it wrote something that matches, and gives the match. Rejects when the program ends before. */
  waitFor(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>;
  /** Asks it to end, and makes it end where it does not within five seconds. */
  stop(): Promise<void>;
}

/** What a program is run with. */
export interface ProgramOptions {
  /** Over the environment of the tests. */
  env?: Record<string, string>;
  /** For its standard input, which stays open without one. */
  input?: string;
}

const patienceMs = 5000;

/**
 * Runs a JavaScript or TypeScript file in a process of its own.
 * @param file from the repository's root, or absolute
 */
export function runProgram(file: string, args: readonly string[], options: ProgramOptions = {}): Program {
  return runExecutable(process.execPath, [file, ...args], options);
}

/**
 * Runs any executable in a process of its own.
 * @param options as of {@link runProgram}
 */
export function runExecutable(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Program {
  const child = spawn(command, args, {
    cwd: repository,
    stdio: 'pipe',
    env: { ...process.env, ...options.env },
  });
  const written = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  const tell = (): void => {
    for (const look of waiting) look();
  };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text;
      tell();
    });
  }
  child.stdin.on('error', () => undefined);
  if (options.input !== undefined) child.stdin.end(options.input);
  let over = false;
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      over = true;
      tell();
      resolve(code);
    }),
  );
  return {
    process: child,
    written,
    ended,
    waitFor(stream, pattern) {
      return new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(written[stream]);
          if (!match && !over) return;
          waiting.delete(look);
          if (match) resolve(match);
          else
            reject(
              new Error(
                `${command} ${args[0]} ended before it wrote ${pattern}:\n${written.stdout}\n${written.stderr}`,
              ),
            );
        };
        waiting.add(look);
        look();
      });
    },
    async stop() {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      await ended;
      clearTimeout(force);
    },
  };
}
