import { resolve } from 'node:path';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import {
  type createAdministration,
  operatingUser,
} from '../../../authorization-server/administration/administration.ts';
import type { StorageSettings } from '../../../settings/storage.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, formatJson, formatTable, processIo } from '../../output.ts';
import {
  findInstallation,
  type InstallationOptions,
  isoTime,
  operatorCommand,
  withAdministration,
} from './installation.ts';

interface KeysOptions extends InstallationOptions {
  json?: boolean;
}

const kinds = ['signing', 'cookies', 'sealing'] as const;

type Kind = (typeof kinds)[number];

type Rotated = Awaited<ReturnType<Administration['keys']['rotate']>>[number];

type Administration = ReturnType<typeof createAdministration>;

function rotationSentences({ kind, id, activeAt, isNew, misdated }: Rotated): string[] {
  if (!isNew)
    return [
      `${kind}: ${id} was created before and is in use from ${isoTime(activeAt)}; no other key was created.`,
    ];
  return [
    `${kind}: ${id} is in use from ${isoTime(activeAt)}; the old key stays as long as it is needed.`,
    ...misdated.map(
      (key) =>
        `${kind}: ${key.id} was dated ${isoTime(key.activeAt)}, ahead of the clock. It is ignored, and stays as long as the old key.`,
    ),
  ];
}

interface RewrapCommandOptions extends KeysOptions {
  newFile?: string;
  newEnv?: string;
  newCommand?: string[];
}

type MasterKeySource = NonNullable<StorageSettings['masterKey']>;

/** @throws CliError unless the options name one source */
function sourceOf({ newFile, newEnv, newCommand }: RewrapCommandOptions): MasterKeySource {
  const named: MasterKeySource[] = [
    ...(newFile === undefined ? [] : [{ file: resolve(newFile) }]),
    ...(newEnv === undefined ? [] : [{ env: newEnv }]),
    ...(newCommand === undefined ? [] : [{ command: newCommand as [string, ...string[]] }]),
  ];
  const [source] = named;
  if (source && named.length === 1) return source;
  throw new CliError(
    'Name one place of the new master key.',
    exitCodes.usage,
    'Add --new-file, --new-env or --new-command.',
    'no_source',
  );
}

function parseCommand(text: string): string[] {
  try {
    const words: unknown = JSON.parse(text);
    if (Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string'))
      return words;
  } catch {
    // Refused below.
  }
  throw new InvalidArgumentError('A command is a list of texts in JSON, as in storage.masterKey.');
}

async function rewrap(options: RewrapCommandOptions, io: CommandIo): Promise<void> {
  const source = sourceOf(options);
  const { data, storage } = await findInstallation(options);
  if (storage?.postgres === undefined)
    throw new CliError(
      'This installation is on SQLite: its keys are in a file, under no master key.',
      exitCodes.usage,
      'Protect the key file, and its copies in backups, as such.',
      'no_master_key',
    );
  const { findDatabaseUrl, findMasterKey, rewrapKeys } = await import('../../../storage/postgres/index.ts');
  const machine = { data, env: io.env, isNew: false };
  const masterKey = await findMasterKey(storage.masterKey, machine);
  const newMasterKey = await findMasterKey(source, { ...machine, setting: 'The new master key' });
  const isNew = await rewrapKeys({
    ...{ url: await findDatabaseUrl(storage.postgres, io.env), pooled: storage.pooled },
    ...{ masterKey, newMasterKey },
    note: async (append) =>
      append({
        at: io.now(),
        event: 'key.rewrapped',
        details: { operator: operatingUser(), from: masterKey.id, to: newMasterKey.id },
      }),
  });
  const sentences = [
    isNew
      ? `The keys are sealed under ${newMasterKey.id} now, no longer under ${masterKey.id}.`
      : `The keys are sealed under ${newMasterKey.id} already. Nothing was changed.`,
    'Give every node the new master key, in the place that its storage.masterKey names. A running node looks there within ten seconds, if it is a file or a command; with a variable, restart it. With the old one it cannot start.',
  ];
  io.stdout.write(
    options.json
      ? formatJson({ from: masterKey.id, to: newMasterKey.id, isNew })
      : `${sentences.join('\n')}\n`,
  );
}

/** Registers `gatehouse keys list|rotate|rewrap`. */
export function registerKeys(program: Command, io: CommandIo = processIo()): void {
  const keys = program.command('keys').description('keys of your server: list, rotate and rewrap them');

  operatorCommand(keys, 'rewrap', 'seal the keys in PostgreSQL under a new master key; running servers go on')
    .option('--new-file <path>', 'file with the new master key')
    .option('--new-env <name>', 'variable with the new master key')
    .option('--new-command <list>', 'program that prints the new master key, as a list in JSON', parseCommand)
    .addHelpText(
      'after',
      '\nA master key is 32 random bytes, such as openssl rand -hex 32 prints. The present one is found where the config file\nnames it.\n\nExample:\n  gatehouse keys rewrap --config gatehouse.json --new-file /etc/gatehouse/master-key.new',
    )
    .action((options: RewrapCommandOptions) => rewrap(options, io));

  operatorCommand(keys, 'list', 'list the keys with their states and ages; never shows a key').action(
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
      const heading = ['KIND', 'STATE', 'ID', 'CREATED', 'IN USE FROM', 'REPLACED', 'SEALED ROWS'];
      io.stdout.write(options.json ? formatJson(list) : formatTable([heading, ...rows]));
    },
  );

  operatorCommand(
    keys,
    'rotate',
    'create the next key, of one kind or of all; a running server uses it without a restart',
  )
    .addArgument(new Argument('[kind]', 'which keys').choices([...kinds, 'all']).default('all'))
    .option('--clock-is-right', 'ignore keys that are dated ahead of the clock of this machine')
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
