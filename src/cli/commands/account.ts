import type { Command } from 'commander';
import type { createAdministration } from '../../authorization-server/administration/administration.ts';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';
import { readNewPassword } from '../password-input.ts';
import { registerAccountAccess } from './account-access.ts';

type ShownAccount = Awaited<ReturnType<ReturnType<typeof createAdministration>['accounts']['show']>>;

interface AccountOptions extends InstallationOptions {
  json?: boolean;
  passwordStdin?: boolean;
}

function describe(account: ShownAccount): string[][] {
  const { id, email, createdAt, disabledAt, upstreams = [], identities = [] } = account;
  return [
    ['E-mail', printableLine(email)],
    ['Id', id],
    ['Added', isoTime(createdAt)],
    ['Disabled', disabledAt === undefined ? 'no' : `since ${isoTime(disabledAt)}`],
    ...(upstreams.length === 0 ? [] : [['Upstreams', upstreams.join(', ')]]),
    ...identities.map(({ issuer, subject, linkedAt }) => [
      'Elsewhere',
      `${printableLine(subject)} at ${printableLine(issuer)}, since ${isoTime(linkedAt)}`,
    ]),
  ];
}

/** Registers `gatehouse account add|list|show|disable|enable|reset|sessions|remove-factors|remove|password`. @param io its surroundings; those of the process by default */
export function registerAccount(program: Command, io: CommandIo = processIo()): void {
  const account = program.command('account').description('people who can log in to your server');
  const command = (name: string, description: string): Command => operatorCommand(account, name, description);
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
    const rows = accounts.map(({ email, createdAt, disabledAt, id, upstreams = [] }) => [
      printableLine(email),
      isoTime(createdAt),
      disabledAt === undefined ? 'active' : 'disabled',
      id,
      upstreams.join(', '),
    ]);
    const heading = ['E-MAIL', 'ADDED', 'STATE', 'ID', 'UPSTREAMS'];
    io.stdout.write(options.json ? formatJson(accounts) : formatTable([heading, ...rows]));
  });

  command('show <email>', 'show one account').action(async (email: string, options: AccountOptions) => {
    const shown = await withAdministration(options, false, ({ accounts }) => accounts.show(email));
    io.stdout.write(options.json ? formatJson(shown) : formatTable(describe(shown)));
  });

  command('disable <email>', 'shut an account: no login, and its sessions and tokens end at once').action(
    async (email: string, options: AccountOptions) => {
      await withAdministration(options, false, ({ accounts }) => accounts.disable(email));
      say(
        options,
        { disabled: email },
        `Disabled ${printableLine(email)}. Its sessions and tokens have ended.`,
      );
    },
  );

  command('enable <email>', 'open a disabled account again').action(
    async (email: string, options: AccountOptions) => {
      await withAdministration(options, false, ({ accounts }) => accounts.enable(email));
      say(options, { enabled: email }, `Enabled ${printableLine(email)}.`);
    },
  );

  registerAccountAccess(command, io);

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
