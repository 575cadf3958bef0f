import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credential } from '../../client/building-blocks.ts';
import {
  createTokenFile,
  lifeOf,
  parseHolder,
  parseSealedText,
  parseTokenFile,
  staleLockMs,
  systemKeychain,
  TokenFileError,
  tokenFilePath,
} from '../../client/node/building-blocks.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { type Check, fail, type Judgement, pass, warn } from '../check.ts';
import { type Machine, storeFolder } from './machine.ts';

type Found = { kind: 'absent' } | { kind: 'fault'; judgement: Judgement } | { kind: 'private' };

function fault(saw: string, fix: string): Found {
  return { kind: 'fault', judgement: fail(saw, fix) };
}

/** Checks the type, the owner and the permissions of one path of the store. */
async function look(path: string, kind: 'file' | 'folder', machine: Machine): Promise<Found> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return { kind: 'absent' };
  if (found.isSymbolicLink())
    return fault(`${path} is a symbolic link, which is not followed.`, `Remove it: rm ${path}`);
  if (kind === 'file' ? !found.isFile() : !found.isDirectory())
    return fault(`${path} is no ${kind}.`, `Move it away: mv ${path} ${path}.old`);
  if (machine.userId !== undefined && found.uid !== machine.userId)
    return fault(
      `${path} belongs to the user with id ${found.uid}, not to ${machine.userId} who runs this.`,
      `sudo chown -R $(id -u) ${storeFolder(machine)}`,
    );
  const mode = found.mode & 0o777;
  if (machine.platform !== 'win32' && (mode & 0o077) !== 0)
    return fault(
      `${path} has mode ${mode.toString(8).padStart(4, '0')}: other users of this machine can get at the tokens in it.`,
      `chmod ${kind === 'file' ? '600' : '700'} ${path}; then log in again, for the old tokens have been readable.`,
    );
  return { kind: 'private' };
}

/** Returns the form of a credential store by its text, or undefined. */
function describeText(text: string): string | undefined {
  const sealed = parseSealedText(text);
  if (sealed !== undefined) return `sealed with a key of the keychain (${sealed.keychain})`;
  return parseTokenFile(text) === undefined ? undefined : 'in plain text';
}

/** Returns the reason if the store cannot be opened, such as a missing keychain. */
async function faultOfOpening(machine: Machine): Promise<string | undefined> {
  const keychain = systemKeychain(machine.platform, machine.env);
  try {
    await createTokenFile(storeFolder(machine), { keychain }).listLogins();
    return undefined;
  } catch (error) {
    if (error instanceof TokenFileError) return error.message;
    throw error;
  }
}

/**
 * Checks the location and the permissions of stored logins.
 * @see RFC 8252 section 8; RFC 9700 section 4.14 (CL-13, T-188)
 */
export function storeCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-STORE',
    section: 'machine',
    title: 'Kept logins can be read by their owner only',
    clause: 'RFC 9700 section 4.14',
    async judge() {
      const folder = storeFolder(machine);
      const file = tokenFilePath(folder);
      for (const [path, kind] of [
        [folder, 'folder'],
        [file, 'file'],
      ] as const) {
        const found = await look(path, kind, machine);
        if (found.kind === 'fault') return found.judgement;
        if (found.kind === 'absent')
          return pass(`No login is kept on this machine; they would go to ${file}.`);
      }
      const how = describeText(await readFile(file, 'utf8').catch(() => ''));
      if (how === undefined)
        return fail(
          `${file} is damaged: it is no token file.`,
          `Move it away, then log in again: mv ${file} ${file}.damaged`,
        );
      const fault = await faultOfOpening(machine);
      if (fault !== undefined)
        return fail(
          fault,
          'Unlock the keychain of this session; where there is none, move the file away and log in again with --store plain.',
        );
      const who =
        machine.platform === 'win32'
          ? 'Who else may read it was not looked at.'
          : 'Only its owner may read it.';
      return pass(`Logins are kept in ${file}, ${how}. ${who}`);
    },
  };
}

/** A lock file. */
interface FoundLock {
  name: string;
  ageMs: number;
  /** Id of the process that it names. */
  pid: number | undefined;
  life: ReturnType<typeof lifeOf>;
}

async function findLocks(machine: Machine): Promise<FoundLock[]> {
  const folder = storeFolder(machine);
  const names = await readdir(folder).catch(() => []);
  const locks = names
    .filter((name) => /\.lock(\.stale)?$/.test(name))
    .map(async (name): Promise<FoundLock | undefined> => {
      const file = join(folder, name);
      const found = await stat(file).catch(() => undefined);
      if (found === undefined) return undefined;
      const text = await readFile(file, 'utf8').catch(() => '');
      const holder = parseHolder(text);
      return { name, ageMs: machine.nowMs() - found.mtimeMs, pid: holder?.pid, life: lifeOf(holder) };
    });
  return (await Promise.all(locks)).filter((lock) => lock !== undefined);
}

/**
 * Checks that no dead process has left a lock of the store.
 * @see RFC 9700 section 4.14 (CL-1, CL-4)
 */
export function locksCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-LOCK',
    section: 'machine',
    title: 'No lock was left behind',
    clause: 'RFC 9700 section 4.14',
    async judge() {
      const locks = await findLocks(machine);
      const left = locks.filter(({ ageMs, life }) => ageMs > staleLockMs || life === 'dead');
      const lives = { running: ' lives', dead: ' is gone', unknown: ' elsewhere' };
      const describe = ({ name, ageMs, pid, life }: FoundLock): string =>
        `${name} (${Math.round(ageMs / 1000)} s old${pid === undefined ? '' : `, pid ${pid}${lives[life]}`})`;
      if (left.length > 0)
        return warn(
          `Left behind in ${storeFolder(machine)}: ${left.map(describe).join(', ')}.`,
          'The next process takes it over by itself. Where every process waits: end them, then remove the file.',
        );
      if (locks.length > 0) return pass(`In use right now: ${locks.map(describe).join(', ')}.`);
      return pass('No lock is held.');
    },
  };
}

/** Returns the login of a folder, or undefined. MACHINE-STORE reports a store that cannot be opened. */
async function kept(folder: string, server: string): Promise<Credential | undefined> {
  try {
    return await createTokenFile(folder).findCredential(server);
  } catch (error) {
    if (error instanceof TokenFileError) return undefined;
    throw error;
  }
}

/**
 * Checks that programs do not use two different logins to the server: `$GATEHOUSE_HOME` may be set in one shell and not
 * in the next.
 */
export function twoStoresCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-TWO-STORES',
    section: 'machine',
    title: 'One login to the server is kept in one place',
    clause: 'RFC 9700 section 4.14',
    async judge({ url }) {
      const chosen = storeFolder(machine);
      const usual = storeFolder({ ...machine, env: {} });
      if (chosen === usual) return pass(`$GATEHOUSE_HOME is not set; all logins are in ${usual}.`);
      const server = canonicalResource(url) ?? url;
      const [here, there] = await Promise.all([chosen, usual].map((folder) => kept(folder, server)));
      if (here === undefined || there === undefined || here.accessToken === there.accessToken)
        return pass(
          `Logins are read from ${chosen} ($GATEHOUSE_HOME); ${usual} holds no other one to this server.`,
        );
      return warn(
        `${chosen} ($GATEHOUSE_HOME) and ${usual} hold different logins to this server.`,
        `Keep one: GATEHOUSE_HOME=${usual} gatehouse logout ${url}, or unset GATEHOUSE_HOME everywhere.`,
      );
    },
  };
}
