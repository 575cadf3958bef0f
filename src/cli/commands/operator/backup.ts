import { join } from 'node:path';
import type { Command } from 'commander';
import { backUpDataFolder, restoreDataFolder } from '../../../storage/sqlite/index.ts';
import { programName, shellWord } from '../../command-text.ts';
import { type CommandIo, formatJson, printableLine, processIo } from '../../output.ts';
import {
  announceUpgrade,
  findDataFolder,
  type InstallationOptions,
  namedDataFolder,
  withAdministration,
} from './installation.ts';

interface BackupOptions extends InstallationOptions {
  json?: boolean;
  /** False where `--no-keys` was given. */
  keys: boolean;
}

/** Registers `gatehouse backup`. @param io its surroundings; those of the process by default */
export function registerBackup(program: Command, io: CommandIo = processIo()): void {
  program
    .command('backup <folder>')
    .description('copy the data of your server, which may be running, into a new folder')
    .option('--data <folder>', 'data folder of the server (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .option('--no-keys', 'leave the key file out: the backup is useless without it, to you and to thieves')
    .option('--json', 'print JSON')
    .action(async (target: string, options: BackupOptions) => {
      const data = await findDataFolder(options);
      const backup = backUpDataFolder(data, target, options.keys);
      const sentences = [
        `Wrote ${join(backup.folder, 'gatehouse.db')}, ${backup.bytes} bytes, checked.`,
        backup.withKeys
          ? 'The key file is in it: whoever has this folder has your installation. Keep it encrypted.'
          : 'The key file is not in it. Keep a copy of gatehouse.keys.json elsewhere: without it nothing can be restored.',
        `To put it back: ${programName} restore ${shellWord(backup.folder)} --data ${shellWord(data)}`,
      ];
      io.stdout.write(options.json ? formatJson(backup) : `${sentences.join('\n')}\n`);
    });
}

interface RestoreCommandOptions extends InstallationOptions {
  json?: boolean;
  replace?: boolean;
  keepLogins?: boolean;
}

/** Registers `gatehouse restore`. @param io its surroundings; those of the process by default */
export function registerRestore(program: Command, io: CommandIo = processIo()): void {
  program
    .command('restore <backup>')
    .description('put a backup back while the server is stopped; everybody has to log in again')
    .option('--data <folder>', 'data folder it becomes (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .option('--replace', 'put a database that is in the data folder aside')
    .option(
      '--keep-logins',
      'keep consents, tokens and logins as they were: only where nothing happened since the backup, as in a move',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nConsents, tokens, codes and logins of the backup end, because those that were used up or revoked since would be\nalive again. With --replace, clients that were denied and accounts that were disabled since\nstay so where the database that is replaced can be read. Passwords and accounts are as they were: look through them\nwith gatehouse account list.',
    )
    .action(async (backup: string, options: RestoreCommandOptions) => {
      const data = await namedDataFolder(options);
      const keptLogins = options.keepLogins === true;
      const restored = await restoreDataFolder({
        backup,
        data,
        replace: options.replace === true,
        keepLogins: keptLogins,
        beforeUpgrade: announceUpgrade(io.stderr),
        stamp: new Date(io.now() * 1000).toISOString().replace(/[:.]/g, '-'),
      });
      await withAdministration({ data }, false, ({ installation }) =>
        installation.noteRestored({ asOf: restored.asOf, keptLogins }),
      );
      const sentences = [
        `Restored into ${data}.`,
        keptLogins
          ? 'Consents, tokens and logins are as they were.'
          : 'All consents, tokens and logins have ended: everybody logs in again.',
        ...describeCarriedOver(restored.restoredRevocations),
        ...(restored.putAside ? [`The database that was there is now ${restored.putAside}`] : []),
      ];
      io.stdout.write(
        options.json ? formatJson({ data, keptLogins, ...restored }) : `${sentences.join('\n')}\n`,
      );
    });
}

type RestoredRevocations = Awaited<ReturnType<typeof restoreDataFolder>>['restoredRevocations'];

/** Names shown of a list; the rest is counted. */
const shown = 20;

function list(names: readonly string[]): string {
  const more = names.length - shown;
  return `${names.slice(0, shown).map(printableLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Says what of the database that was replaced holds on, and what the operator has to decide anew.
 * @returns a sentence each; none where there is nothing to say
 */
export function describeCarriedOver(carried: RestoredRevocations): string[] {
  if (carried === undefined) return [];
  if (carried === 'unreadable')
    return [
      'The database that was there cannot be read: who was disabled or denied since the backup is let in again. See gatehouse account list and gatehouse client list.',
    ];
  const { refusedClients, disabledAccounts, renewedTokens, returnedAccounts, olderPasswords } = carried;
  const parts: [boolean, string][] = [
    [refusedClients.length > 0, `Clients that stay denied or removed: ${list(refusedClients)}.`],
    [disabledAccounts.length > 0, `Accounts that stay disabled: ${list(disabledAccounts)}.`],
    [renewedTokens > 0, `Registration access tokens that stay those of now: ${renewedTokens}.`],
    [
      returnedAccounts.length > 0,
      `Accounts that are back, which were not in the database that was replaced: ${list(returnedAccounts)}. To remove one again: gatehouse account remove EMAIL`,
    ],
    [
      olderPasswords.length > 0,
      `Accounts whose password is an older one again: ${list(olderPasswords)}. To have one set anew: gatehouse account reset EMAIL`,
    ],
  ];
  return parts.flatMap(([applies, sentence]) => (applies ? [sentence] : []));
}
