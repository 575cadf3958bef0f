import { join } from 'node:path';
import type { Command } from 'commander';
import { shellWord } from '../../../client/quote.ts';
import { backUpDataFolder, restoreDataFolder } from '../../../storage/sqlite/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, formatJson, printableLine, processIo, programName } from '../../output.ts';
import {
  announceUpgrade,
  findInstallation,
  type InstallationOptions,
  type InstallationPlace,
  isOnPostgres,
  namedPlace,
  withAdministration,
} from './installation.ts';

interface BackupOptions extends InstallationOptions {
  json?: boolean;
  /** False with `--no-keys`. */
  keys: boolean;
}

/** Returns the folder of an installation on SQLite. @throws CliError if it is on PostgreSQL */
function folderOf(place: InstallationPlace): string {
  if (!isOnPostgres(place)) return place.data;
  throw new CliError(
    'This installation is on PostgreSQL, which has its own backups.',
    exitCodes.usage,
    'Use pg_dump and pg_restore, and keep the master key with the backup; docs/postgresql.md says how.',
    'on_postgres',
  );
}

/** Registers `gatehouse backup`. */
export function registerBackup(program: Command, io: CommandIo = processIo()): void {
  program
    .command('backup <folder>')
    .description('copy the data of your server, which may be running, into a new folder')
    .option('--data <folder>', 'data folder of the server (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .option(
      '--no-keys',
      'leave out the key file; without it nobody can use the backup, neither you nor a thief',
    )
    .option('--json', 'print JSON')
    .action(async (target: string, options: BackupOptions) => {
      const data = folderOf(await findInstallation(options));
      const backup = backUpDataFolder(data, target, options.keys);
      const sentences = [
        `Wrote ${join(backup.folder, 'gatehouse.db')}, ${backup.bytes} bytes, checked.`,
        backup.withKeys
          ? 'It contains the key file: anybody with this folder controls your installation. Keep it encrypted.'
          : 'It does not contain the key file. Keep a copy of gatehouse.keys.json elsewhere: without it the backup cannot be restored.',
        `To restore it: ${programName} restore ${shellWord(backup.folder)} --data ${shellWord(data)}`,
      ];
      io.stdout.write(options.json ? formatJson(backup) : `${sentences.join('\n')}\n`);
    });
}

interface RestoreCommandOptions extends InstallationOptions {
  json?: boolean;
  replace?: boolean;
  keepLogins?: boolean;
}

/** Registers `gatehouse restore`. */
export function registerRestore(program: Command, io: CommandIo = processIo()): void {
  program
    .command('restore <backup>')
    .description('restore a backup while the server is stopped; everybody must log in again')
    .option('--data <folder>', 'data folder to restore into (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .option('--replace', 'replace the database in the data folder; it is renamed, not deleted')
    .option(
      '--keep-logins',
      'keep consents, tokens and logins: only if nothing has happened since the backup, as in a move',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nConsents, tokens, codes and logins of the backup end, because used or revoked ones would become valid again. With\n--replace, clients that were denied and accounts that were disabled since the backup stay so, if the former database\ncan be read. Accounts and passwords are those of the backup: check them with gatehouse account list.',
    )
    .action(async (backup: string, options: RestoreCommandOptions) => {
      const data = folderOf(await namedPlace(options));
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
          : 'All consents, tokens and logins have ended: everybody must log in again.',
        ...describeCarriedOver(restored.restoredRevocations),
        ...(restored.putAside ? [`The former database is now ${restored.putAside}`] : []),
      ];
      io.stdout.write(
        options.json ? formatJson({ data, keptLogins, ...restored }) : `${sentences.join('\n')}\n`,
      );
    });
}

type RestoredRevocations = Awaited<ReturnType<typeof restoreDataFolder>>['restoredRevocations'];

/** Maximum number of names shown of a list; the rest is counted. */
const shown = 20;

function list(names: readonly string[]): string {
  const more = names.length - shown;
  return `${names.slice(0, shown).map(printableLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Describes what was kept from the replaced database, and what the operator has to decide.
 * @returns one sentence for each fact; empty if there is none
 */
export function describeCarriedOver(carried: RestoredRevocations): string[] {
  if (carried === undefined) return [];
  if (carried === 'unreadable')
    return [
      'The former database cannot be read: accounts and clients that were disabled or denied since the backup are active again. See gatehouse account list and gatehouse client list.',
    ];
  const { refusedClients, disabledAccounts, renewedTokens, returnedAccounts, olderPasswords } = carried;
  const parts: [boolean, string][] = [
    [refusedClients.length > 0, `Clients that stay denied or removed: ${list(refusedClients)}.`],
    [disabledAccounts.length > 0, `Accounts that stay disabled: ${list(disabledAccounts)}.`],
    [renewedTokens > 0, `Registration access tokens kept from the former database: ${renewedTokens}.`],
    [
      returnedAccounts.length > 0,
      `Accounts that exist again, which the former database did not have: ${list(returnedAccounts)}. To remove one again: gatehouse account remove EMAIL`,
    ],
    [
      olderPasswords.length > 0,
      `Accounts that have an older password again: ${list(olderPasswords)}. To set a new one: gatehouse account reset EMAIL`,
    ],
  ];
  return parts.flatMap(([applies, sentence]) => (applies ? [sentence] : []));
}
