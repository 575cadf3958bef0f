import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Check, Finding } from '../../../src/doctor/check.ts';
import { examine } from '../../../src/doctor/examine.ts';
import type { Machine } from '../../../src/doctor/machine/machine.ts';
import { testFolder } from '../../client/support/folder.ts';

/** The server that machines of tests are asked about. */
export const serverUrl = 'https://mcp.example.com/mcp';

/** A machine in a folder of its own: a plain Linux desktop unless told. */
export function testMachine(changes: Partial<Machine> = {}): Machine {
  const folder = testFolder();
  const made = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  const bin = made('bin');
  writeFileSync(join(bin, 'xdg-open'), '', { mode: 0o755 });
  return {
    platform: 'linux',
    home: made('home'),
    workingFolder: made('work'),
    root: made('root'),
    nodeVersion: '24.1.0',
    nodeFlags: [],
    userId: process.getuid?.(),
    nowMs: () => Date.now(),
    ...changes,
    env: { PATH: bin, DISPLAY: ':0', ...changes.env },
  };
}

/** Writes a file below a folder, with exactly this mode. */
export function put(folder: string, path: string, content: string | object, mode = 0o600): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(file, mode);
  return file;
}

/** What one check says on a machine. Nothing is sent: the fetch fails. */
export async function finding(check: Check, url: string = serverUrl): Promise<Finding> {
  const { findings, exchanges } = await examine({
    url,
    fetch: () => Promise.reject(new Error('a check of the machine asks no server')),
    now: () => 1_800_000_000,
    checks: [check],
  });
  if (exchanges.length > 0 || findings[0] === undefined) throw new Error('one finding, no exchange');
  return findings[0];
}
