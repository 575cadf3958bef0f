import type { Command } from 'commander';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../../output.ts';
import { type InstallationOptions, isoTime, operatorCommand, withAdministration } from './installation.ts';

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
