import type { Command } from 'commander';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';

interface SessionOptions extends InstallationOptions {
  json?: boolean;
  account?: string;
  client?: string;
}

/** Registers `gatehouse session list|end`. @param io its surroundings; those of the process by default */
export function registerSession(program: Command, io: CommandIo = processIo()): void {
  const session = program
    .command('session')
    .description('logins in browsers and sessions of MCP clients at your server');

  operatorCommand(session, 'list', 'list the sessions')
    .option('--account <email>', 'only of this account')
    .option('--client <id>', 'only of this MCP client')
    .action(async (options: SessionOptions) => {
      const { account: email, client: clientId } = options;
      const sessions = await withAdministration(options, false, (administration) =>
        administration.sessions.list({
          ...(email === undefined ? undefined : { email }),
          ...(clientId === undefined ? undefined : { clientId }),
        }),
      );
      const rows = sessions.map((entry) => [
        entry.kind,
        entry.id,
        printableLine(entry.email ?? entry.subject),
        isoTime(entry.since),
        isoTime(entry.usedAt),
        printableLine(entry.clientId ?? '-'),
        entry.route ?? '-',
        entry.upstream ?? '-',
      ]);
      const heading = ['KIND', 'ID', 'OF', 'SINCE', 'LAST USED', 'CLIENT ID', 'ROUTE', 'UPSTREAM'];
      io.stdout.write(options.json ? formatJson(sessions) : formatTable([heading, ...rows]));
    });

  operatorCommand(
    session,
    'end <id>',
    'end a session, its streams and calls, within a second; tokens stay',
  ).action(async (id: string, options: SessionOptions) => {
    const kind = await withAdministration(options, false, ({ sessions }) => sessions.end(id));
    const advice = kind === 'mcp' ? ' To end what its app may do as well: gatehouse grant revoke.' : '';
    io.stdout.write(options.json ? formatJson({ ended: id }) : `Ended.${advice}\n`);
  });
}
