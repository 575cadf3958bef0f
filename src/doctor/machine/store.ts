import { lstat, readFile } from 'node:fs/promises';
import { systemKeychain } from '../../client/node/keychain.ts';
import { TokenFileError } from '../../client/node/private-file.ts';
import { createTokenFile, parseTokenFile, tokenFilePath } from '../../client/node/token-file.ts';
import { parseSealedText } from '../../client/node/token-file-seal.ts';
import type { Check } from '../check.ts';
import type { Judgement } from '../finding.ts';
import { fail, pass } from '../judgements.ts';
import { type Machine, storeFolder } from './machine.ts';

type Found = { kind: 'absent' } | { kind: 'fault'; judgement: Judgement } | { kind: 'private' };

function fault(saw: string, fix: string): Found {
  return { kind: 'fault', judgement: fail(saw, fix) };
}

/** Looks at one place of the store: what it is, whose it is, and who else may read it. */
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

/** Returns the form of a credential store by its text; undefined if it is no store. */
function describeText(text: string): string | undefined {
  const sealed = parseSealedText(text);
  if (sealed !== undefined) return `sealed with a key of the keychain (${sealed.keychain})`;
  return parseTokenFile(text) === undefined ? undefined : 'in plain text';
}

/** Result of opening a store: a sealed one needs the keychain. */
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
 * Checks the location of stored logins and their readers.
 * @param machine the machine
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
