import type { Command } from 'commander';
import { restoreDataFolder } from '../../storage/sqlite/index.ts';
import {
  announceUpgrade,
  type InstallationOptions,
  namedDataFolder,
  withAdministration,
} from '../open-administration.ts';
import { type CommandIo, formatJson, processIo } from '../output.ts';
import { describeCarriedOver } from './carried-over.ts';

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
