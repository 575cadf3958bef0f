import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { runProgram } from '../../../src/client/node/keychain.ts';
import { testFolder } from './folder.ts';

const programs = ['dbus-daemon', 'gnome-keyring-daemon', 'secret-tool'];

/** Whether this machine has what a real keyring needs. */
export const hasDesktopKeyring = programs.every((name) => existsSync(`/usr/bin/${name}`));

/**
 * Starts a D-Bus and a GNOME Keyring of its own, unlocked, gone at the end of the running test.
 * @returns environment variables to reach it with
 */
export async function startDesktopKeyring(): Promise<Record<string, string>> {
  const home = testFolder();
  const runtime = join(home, 'run');
  mkdirSync(runtime, { mode: 0o700 });
  const env: Record<string, string> = { PATH: '/usr/bin', HOME: home, XDG_RUNTIME_DIR: runtime };
  const start = (command: string, args: string[], input = ''): Promise<string> => {
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin.on('error', () => undefined).end(input);
    return new Promise((resolve) => child.stdout.once('data', (text) => resolve(String(text).trim())));
  };
  env.DBUS_SESSION_BUS_ADDRESS = await start('dbus-daemon', ['--session', '--nofork', '--print-address=1']);
  void start('gnome-keyring-daemon', ['--foreground', '--components=secrets', '--unlock'], 'a password');
  for (let attempt = 0; attempt < 200; attempt++) {
    const { stderr } = await runProgram('secret-tool', ['lookup', 'ready', 'no'], { env });
    if (stderr === '') return env;
    await sleep(50);
  }
  throw new Error('The keyring did not start.');
}
