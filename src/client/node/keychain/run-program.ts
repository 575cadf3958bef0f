import { spawn } from 'node:child_process';

/** A keychain cannot be used now. The message says why, in half a sentence. */
export class KeychainError extends Error {
  override name = 'KeychainError';
}

/** Longest wait for a keychain, which may show the user a dialogue to unlock it, in milliseconds. */
const keychainTimeoutMs = 60_000;

/** Longest output taken, in characters. */
const maxOutputLength = 64 * 1024;

/** How a program ended. */
export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program of the operating system, without a shell.
 * @param command the program
 * @param args its arguments, none of them a secret: every process of the machine can read them (T-191)
 * @param options its environment, and what it reads from standard input
 * @throws KeychainError where it is not there, or does not end within a minute
 */
export function runProgram(
  command: string,
  args: readonly string[],
  options: { env: Readonly<Record<string, string | undefined>>; input?: string },
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const output = { stdout: '', stderr: '' };
    const child = spawn(command, [...args], { stdio: 'pipe', shell: false, env: { ...options.env } });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new KeychainError(`${command} did not end within ${keychainTimeoutMs / 1000} s`));
    }, keychainTimeoutMs);
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        if (output[stream].length < maxOutputLength) output[stream] += text;
      });
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const why = error.code === 'ENOENT' ? 'is not installed' : `cannot be started (${error.code})`;
      reject(new KeychainError(`${command} ${why}`));
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, ...output });
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/**
 * What a program complained about, as half a sentence.
 * @param command the program
 * @param result how it ended
 */
export function complaint(command: string, { code, stderr }: ProgramResult): KeychainError {
  const [line = ''] = stderr
    .split('\n')
    .map((one) => one.replace(`${command}:`, '').trim())
    .filter((one) => one !== '');
  return new KeychainError(`${command} ended with ${code}${line === '' ? '' : `: ${line.slice(0, 200)}`}`);
}
