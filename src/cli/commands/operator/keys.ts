import { Argument, type Command } from 'commander';
import type { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { type CommandIo, formatJson, formatTable, processIo } from '../../output.ts';
import { type InstallationOptions, isoTime, operatorCommand, withAdministration } from './installation.ts';

interface KeysOptions extends InstallationOptions {
  json?: boolean;
}

const kinds = ['signing', 'cookies', 'sealing'] as const;

type Kind = (typeof kinds)[number];

type Rotated = Awaited<ReturnType<Administration['keys']['rotate']>>[number];

type Administration = ReturnType<typeof createAdministration>;

function rotationSentences({ kind, id, activeAt, isNew, misdated }: Rotated): string[] {
  if (!isNew)
    return [`${kind}: ${id} was waiting already, in use from ${isoTime(activeAt)}; no other was made.`];
  return [
    `${kind}: ${id} is in use from ${isoTime(activeAt)}; the old key stays as long as anybody needs it.`,
    ...misdated.map(
      (key) =>
        `${kind}: ${key.id} was dated ${isoTime(key.activeAt)}, ahead of the clock. It is passed over, and stays as long as the old key.`,
    ),
  ];
}

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
    .option('--clock-is-right', 'pass over keys that are dated ahead of the clock of this machine')
    .action(async (kind: Kind | 'all', options: KeysOptions & { clockIsRight?: boolean }) => {
      const rotated = await withAdministration(options, false, (administration) =>
        administration.keys.rotate(kind === 'all' ? kinds : [kind], {
          clockIsRight: options.clockIsRight === true,
        }),
      );
      const sentences = rotated.flatMap(rotationSentences);
      io.stdout.write(options.json ? formatJson(rotated) : `${sentences.join('\n')}\n`);
    });
}
