import type { Command } from 'commander';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';

interface CredentialOptions extends InstallationOptions {
  json?: boolean;
  account?: string;
  name?: string;
}

/** Registers `gatehouse credential list|remove`. @param io its surroundings; those of the process by default */
export function registerCredential(program: Command, io: CommandIo = processIo()): void {
  const credential = program
    .command('credential')
    .description('keys that people entered for MCP servers behind the gate');

  operatorCommand(credential, 'list', 'list who has entered what, and when; no values')
    .option('--account <email>', 'only of this account')
    .action(async (options: CredentialOptions) => {
      const listed = await withAdministration(options, false, ({ credentials }) =>
        credentials.list(options.account),
      );
      const rows = listed.map(({ email, route, name, enteredAt }) => [
        printableLine(email),
        route,
        name,
        isoTime(enteredAt),
      ]);
      io.stdout.write(
        options.json ? formatJson(listed) : formatTable([['ACCOUNT', 'ROUTE', 'NAME', 'ENTERED'], ...rows]),
      );
    });

  operatorCommand(
    credential,
    'remove <route>',
    'remove what people entered for a route; what was started with it ends within a second',
  )
    .option('--account <email>', 'only of this account')
    .option('--name <name>', 'only this one')
    .action(async (route: string, options: CredentialOptions) => {
      const { account: email, name } = options;
      const removed = await withAdministration(options, false, ({ credentials }) =>
        credentials.remove({
          route,
          ...(email === undefined ? undefined : { email }),
          ...(name === undefined ? undefined : { name }),
        }),
      );
      io.stdout.write(options.json ? formatJson({ removed }) : `Removed: ${removed}.\n`);
    });
}
