import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('peers/', import.meta.url));
const lock = `${folder}package-lock.json`;
const installedLock = `${folder}node_modules/.installed-package-lock.json`;

/** Installs the peers where their lock file changed since the last time. Runs no script of theirs. */
export async function installPeers(tell: (sentence: string) => void): Promise<void> {
  const [wanted, installed] = await Promise.all([
    readFile(lock),
    readFile(installedLock).catch(() => undefined),
  ]);
  if (installed?.equals(wanted)) return;
  tell('Installing what Gatehouse is compared with into bench/peers ...');
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  await cp(lock, installedLock);
}
