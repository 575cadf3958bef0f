import type { Command } from 'commander';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { type CommandIo, formatJson, formatTable, printableLine, processIo } from '../output.ts';

interface ClientOptions extends InstallationOptions {
  json?: boolean;
}

/** Longest part of a client's own words in a table. */
const cellLength = 60;

function cell(text: string): string {
  const line = printableLine(text);
  return line.length > cellLength ? `${line.slice(0, cellLength - 1)}…` : line;
}

/** Registers `gatehouse client list|remove`. @param io its surroundings; those of the process by default */
export function registerClient(program: Command, io: CommandIo = processIo()): void {
  const client = program.command('client').description('OAuth clients registered at your server');
  const command = (name: string, description: string): Command =>
    client
      .command(name)
      .description(description)
      .option('--data <folder>', 'data folder of the server (default: ./data)')
      .option('--config <file>', 'config file of the server')
      .option('--json', 'print JSON');

  command('list', 'list the registered clients; names are as the clients gave them').action(
    async (options: ClientOptions) => {
      const clients = await withAdministration(options, false, (administration) =>
        administration.clients.list(),
      );
      const rows = clients.map((entry) => [
        entry.clientId,
        new Date(entry.createdAt * 1000).toISOString(),
        cell(entry.name),
        cell(entry.redirectUris.join(' ')),
      ]);
      const heading = ['CLIENT ID', 'REGISTERED', 'NAME', 'REDIRECT URIS'];
      io.stdout.write(options.json ? formatJson(clients) : formatTable([heading, ...rows]));
    },
  );

  command('remove <client-id>', 'remove a client with its tokens').action(
    async (clientId: string, options: ClientOptions) => {
      await withAdministration(options, false, ({ clients }) => clients.remove(clientId));
      const sentence = 'Removed. Its tokens have ended; it can register again.\n';
      io.stdout.write(options.json ? formatJson({ removed: clientId }) : sentence);
    },
  );
}
