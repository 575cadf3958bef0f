import { Argument, type Command } from 'commander';
import { type InstallationOptions, withAdministration } from '../open-administration.ts';
import { isoTime, operatorCommand } from '../operator-command.ts';
import { type CommandIo, formatJson, formatTable, processIo } from '../output.ts';

interface KeysOptions extends InstallationOptions {
  json?: boolean;
}

const kinds = ['signing', 'cookies', 'sealing'] as const;

type Kind = (typeof kinds)[number];

/** Registers `gatehouse keys list|rotate`. @param io its surroundings; those of the process by default */
export function registerKeys(program: Command, io: CommandIo = processIo()): void {
  const keys = program
    .command('keys')
    .description('keys of your server: their ages, and new ones in their place');

  operatorCommand(keys, 'list', 'list the keys with their states and ages; never a key').action(
    async (options: KeysOptions) => {
      const list = await withAdministration(options, false, (administration) => administration.keys.list());
      const rows = list.map((key) => [
        key.kind,
        key.state,
        key.id,
        isoTime(key.createdAt),
        isoTime(key.activeAt),
        isoTime(key.retiredAt),
        key.sealedRows === undefined ? '-' : String(key.sealedRows),
      ]);
      const heading = ['KIND', 'STATE', 'ID', 'MADE', 'IN USE FROM', 'REPLACED', 'SEALED ROWS'];
      io.stdout.write(options.json ? formatJson(list) : formatTable([heading, ...rows]));
    },
  );

  operatorCommand(
    keys,
    'rotate',
    'make the next key, of one kind or of all; a running server takes it by itself',
  )
    .addArgument(new Argument('[kind]', 'which keys').choices([...kinds, 'all']).default('all'))
    .action(async (kind: Kind | 'all', options: KeysOptions) => {
      const rotated = await withAdministration(options, false, (administration) =>
        administration.keys.rotate(kind === 'all' ? kinds : [kind]),
      );
      const sentences = rotated.map((key) =>
        key.isNew
          ? `${key.kind}: ${key.id} is in use from ${isoTime(key.activeAt)}; the old key stays as long as anybody needs it.`
          : `${key.kind}: ${key.id} was waiting already, in use from ${isoTime(key.activeAt)}; no other was made.`,
      );
      io.stdout.write(options.json ? formatJson(rotated) : `${sentences.join('\n')}\n`);
    });
}
