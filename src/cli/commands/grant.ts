import type { Command } from 'commander';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';

interface GrantOptions extends InstallationOptions {
  json?: boolean;
  account?: string;
  client?: string;
}

/** Registers `gatehouse grant list|revoke`. @param io its surroundings; those of the process by default */
export function registerGrant(program: Command, io: CommandIo = processIo()): void {
  const grant = program.command('grant').description('what people allowed apps to do at your server');

  operatorCommand(grant, 'list', 'list the grants that have not expired')
    .option('--account <email>', 'only of this account')
    .option('--client <id>', 'only of this client')
    .action(async (options: GrantOptions) => {
      const { account: email, client: clientId } = options;
      const grants = await withAdministration(options, false, (administration) =>
        administration.grants.list({
          ...(email === undefined ? undefined : { email }),
          ...(clientId === undefined ? undefined : { clientId }),
        }),
      );
      const rows = grants.map((entry) => [
        entry.id,
        printableLine(entry.email),
        printableLine(entry.clientId),
        isoTime(entry.usedAt),
        isoTime(entry.expiresAt),
        entry.upstream ?? '-',
        printableLine(
          Object.entries(entry.resources)
            .map(([resource, scopes]) => `${resource}: ${scopes.join(' ') || 'no scope'}`)
            .join('; '),
        ),
      ]);
      const heading = ['ID', 'ACCOUNT', 'CLIENT ID', 'LAST USED', 'UNTIL', 'UPSTREAM', 'SCOPES'];
      io.stdout.write(options.json ? formatJson(grants) : formatTable([heading, ...rows]));
    });

  operatorCommand(
    grant,
    'revoke <id>',
    'end a grant with its tokens, streams and calls, within a second',
  ).action(async (id: string, options: GrantOptions) => {
    await withAdministration(options, false, ({ grants }) => grants.revoke(id));
    io.stdout.write(options.json ? formatJson({ revoked: id }) : 'Revoked. Its tokens have ended.\n');
  });
}
