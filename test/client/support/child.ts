import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** A child process with what it wrote so far. */
export interface Child {
  process: ChildProcess;
  output: { stdout: string; stderr: string };
  ended: Promise<number | null>;
}

/** Runs a TypeScript file in a process of its own, which is gone at the end of the running test. */
export function runFile(
  file: string,
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Child {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += String(chunk);
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { process: child, output, ended };
}
