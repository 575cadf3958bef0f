import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../../support/program.ts';

const folder = join(repository, 'test/peers');
const lock = join(folder, 'package-lock.json');
const installedLock = join(folder, 'node_modules/.installed-package-lock.json');

/** Installs the peers where their lock file changed since the last time. Runs no script of theirs. */
export async function installPeers(): Promise<void> {
  const [wanted, installed] = await Promise.all([
    readFile(lock),
    readFile(installedLock).catch(() => undefined),
  ]);
  if (installed?.equals(wanted)) return;
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  await cp(lock, installedLock);
}
