import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../../support/program.ts';

/** Installs the peers where their lock file changed since the last time. Runs no script of theirs. */
export function installPeers(): Promise<void> {
  return installPackages(join(repository, 'test/peers'));
}

/**
 * Installs what the lock file of a folder names, where it changed since the last time. Runs no script of the packages.
 * @param folder a folder with a package.json and a lock file of its own
 */
export async function installPackages(folder: string): Promise<void> {
  const lock = join(folder, 'package-lock.json');
  const installedLock = join(folder, 'node_modules/.installed-package-lock.json');
  const [wanted, installed] = await Promise.all([
    readFile(lock),
    readFile(installedLock).catch(() => undefined),
  ]);
  if (installed?.equals(wanted)) return;
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  await cp(lock, installedLock);
}
