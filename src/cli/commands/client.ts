import type { Command } from 'commander';
import type { createAdministration } from '../../authorization-server/administration/administration.ts';
import { withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';
import { registerClientAdd } from './client-add.ts';
import { registerClientInvite } from './client-invite.ts';
import type { AddClientCommand, ClientOptions } from './client-options.ts';

type Administration = ReturnType<typeof createAdministration>;
type ShownClient = Awaited<ReturnType<Administration['clients']['show']>>;

/** Longest part of a client's own words in a table. */
const cellLength = 60;

function cell(text: string): string {
  const line = printableLine(text);
  return line.length > cellLength ? `${line.slice(0, cellLength - 1)}…` : line;
}

function lastUse(epochSeconds: number | undefined): string {
  return epochSeconds === undefined ? 'never' : isoTime(epochSeconds);
}

function describe(client: ShownClient): string {
  const { clientId, kind, status, name, redirectUris, createdAt, usedAt, grants, metadata } = client;
  const said = Object.entries(metadata).map(([member, value]) => [`  ${member}`, JSON.stringify(value)]);
  return formatTable(
    [
      ['Client ID', clientId],
      ['Kind', kind],
      ['Status', status],
      ['Name', name],
      ['Redirect URIs', redirectUris.join(' ')],
      ['Registered', isoTime(createdAt)],
      ['Last used', lastUse(usedAt)],
      ['Grants', String(grants)],
      ['What it says about itself', ''],
      ...said,
    ].map((row) => row.map(keepIndent)),
  );
}

function keepIndent(text: string): string {
  return /^ */.exec(text)?.[0] + printableLine(text);
}

/** Registers `gatehouse client list|show|add|approve|deny|invite|remove`. @param io its surroundings; those of the process by default */
export function registerClient(program: Command, io: CommandIo = processIo()): void {
  const client = program.command('client').description('OAuth clients of your server');
  const command: AddClientCommand = (name, description) => operatorCommand(client, name, description);
  const decision = (name: 'approve' | 'deny', description: string, done: string): void => {
    command(`${name} <client-id>`, description).action(async (clientId: string, options: ClientOptions) => {
      await withAdministration(options, false, ({ clients }) => clients[name](clientId));
      const status = name === 'approve' ? 'approved' : 'denied';
      io.stdout.write(options.json ? formatJson({ clientId, status }) : `${done}\n`);
    });
  };

  command('list', 'list the clients; names are as the clients gave them').action(
    async (options: ClientOptions) => {
      const clients = await withAdministration(options, false, (administration) =>
        administration.clients.list(),
      );
      const rows = clients.map((entry) => [
        printableLine(entry.clientId),
        entry.kind,
        entry.status,
        isoTime(entry.createdAt),
        lastUse(entry.usedAt),
        String(entry.grants),
        cell(entry.name),
        cell(entry.redirectUris.join(' ')),
      ]);
      const heading = [
        'CLIENT ID',
        'KIND',
        'STATUS',
        'REGISTERED',
        'LAST USED',
        'GRANTS',
        'NAME',
        'REDIRECT URIS',
      ];
      io.stdout.write(options.json ? formatJson(clients) : formatTable([heading, ...rows]));
    },
  );

  command('show <client-id>', 'show a client with all it says about itself').action(
    async (clientId: string, options: ClientOptions) => {
      const shown = await withAdministration(options, false, ({ clients }) => clients.show(clientId));
      io.stdout.write(options.json ? formatJson(shown) : describe(shown));
    },
  );

  registerClientAdd(command, io);
  decision(
    'approve',
    'let a client in that waits for approval, or was denied',
    'Approved. People can log in with it now.',
  );
  decision('deny', 'keep a client out', 'Denied. Its tokens have ended, and nobody can log in with it.');
  registerClientInvite(command, io);

  command('remove <client-id>', 'remove a client with its tokens').action(
    async (clientId: string, options: ClientOptions) => {
      await withAdministration(options, false, ({ clients }) => clients.remove(clientId));
      const sentence = 'Removed. Its tokens have ended; it can register again.\n';
      io.stdout.write(options.json ? formatJson({ removed: clientId }) : sentence);
    },
  );
}
