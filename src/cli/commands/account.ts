import type { Command } from 'commander';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';
import { readNewPassword } from '../password-input.ts';

interface AccountOptions extends InstallationOptions {
  json?: boolean;
  passwordStdin?: boolean;
}

function isoTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString();
}

/** Registers `gatehouse account add|list|remove|password`. @param io its surroundings; those of the process by default */
export function registerAccount(program: Command, io: CommandIo = processIo()): void {
  const account = program.command('account').description('people who can log in to your server');
  const command = (name: string, description: string): Command =>
    account
      .command(name)
      .description(description)
      .option('--data <folder>', 'data folder of the server (default: ./data)')
      .option('--config <file>', 'config file of the server')
      .option('--json', 'print JSON');
  const say = (options: AccountOptions, value: unknown, sentence: string): void => {
    io.stdout.write(options.json ? formatJson(value) : `${sentence}\n`);
  };

  command('add <email>', 'add an account')
    .option('--password-stdin', 'read the password from standard input instead of asking')
    .action(async (email: string, options: AccountOptions) => {
      const password = await readNewPassword(options.passwordStdin === true, io.stdin);
      const added = await withAdministration(options, true, ({ accounts }) => accounts.add(email, password));
      say(options, added, `Added ${printableLine(added.email)}.`);
    });

  command('list', 'list the accounts').action(async (options: AccountOptions) => {
    const accounts = await withAdministration(options, false, (administration) =>
      administration.accounts.list(),
    );
    const rows = accounts.map((entry) => [printableLine(entry.email), isoTime(entry.createdAt), entry.id]);
    io.stdout.write(options.json ? formatJson(accounts) : formatTable([['E-MAIL', 'ADDED', 'ID'], ...rows]));
  });

  command('remove <email>', 'remove an account with its notes, sessions and tokens').action(
    async (email: string, options: AccountOptions) => {
      await withAdministration(options, false, ({ accounts }) => accounts.remove(email));
      say(
        options,
        { removed: email },
        `Removed ${printableLine(email)}. Its sessions and tokens have ended.`,
      );
    },
  );

  command('password <email>', 'set a password; every session and token of the account ends')
    .option('--password-stdin', 'read the password from standard input instead of asking')
    .action(async (email: string, options: AccountOptions) => {
      const password = await readNewPassword(options.passwordStdin === true, io.stdin);
      await withAdministration(options, false, ({ accounts }) => accounts.setPassword(email, password));
      say(
        options,
        { changed: email },
        `Changed. The sessions and tokens of ${printableLine(email)} have ended.`,
      );
    });
}
