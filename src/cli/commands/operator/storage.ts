import { statSync } from 'node:fs';
import type { Command } from 'commander';
import {
  administerInstallation,
  operatingUser,
} from '../../../authorization-server/administration/administration.ts';
import { shellWord } from '../../../client/quote.ts';
import type { StorageSettings } from '../../../settings/storage.ts';
import type { CopySource, CopyTarget } from '../../../storage/copied-tables.ts';
import { type CopiedInstallation, copyInstallation } from '../../../storage/copy.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, formatJson, processIo, programName } from '../../output.ts';
import { startProgressLine } from '../../progress-line.ts';
import {
  announceWaits,
  type InstallationOptions,
  type InstallationPlace,
  isOnPostgres,
  isoTime,
  namedPlace,
  withAdministration,
} from './installation.ts';

interface CopyCommandOptions {
  from: string;
  to: string;
  keepSource?: boolean;
  json?: boolean;
}

interface RecoveredCommandOptions {
  config: string;
  keepLogins?: boolean;
  json?: boolean;
}

/** Registers `gatehouse storage copy|recovered`. */
export function registerStorage(program: Command, io: CommandIo = processIo()): void {
  const storage = program.command('storage').description('the database of your server');
  storage
    .command('copy')
    .description('move an installation from SQLite to PostgreSQL, or back, while its servers are stopped')
    .requiredOption('--from <place>', 'data folder or config file of the installation')
    .requiredOption('--to <place>', 'config file or new data folder to move it to')
    .option('--keep-source', 'for a trial: servers may still use the source; never run both for users')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nA folder is a place on SQLite. A config file is the place that its settings data and storage name. Accounts, clients,\ntokens, logins, MCP sessions, the audit log and the keys move along, and nobody has to log in again. Source and copy are\ncompared; if anything differs or fails, nothing was copied. The target must be empty. Afterwards servers refuse the\nsource, and it can be deleted.\n\nExample:\n  gatehouse storage copy --from ./data --to gatehouse.json',
    )
    .action((options: CopyCommandOptions) => copy(options, io));
  storage
    .command('recovered')
    .description(
      'end everything that was issued, after PostgreSQL was restored from a dump or failed over to a standby that lags',
    )
    .requiredOption('--config <file>', 'config file of the servers')
    .option(
      '--keep-logins',
      'keep consents, tokens and logins: only if the database has all that was acknowledged; servers may run',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nStop every server first. Otherwise consents, tokens, codes and logins that were used or revoked would become valid\nagain. Accounts, passwords and clients are those of the database: disable accounts and deny clients again that were\nrefused since. The audit log notes it.\n\nExample:\n  gatehouse storage recovered --config gatehouse.json',
    )
    .action((options: RecoveredCommandOptions) => recovered(options, io));
}

async function recovered({ config, keepLogins = false, json }: RecoveredCommandOptions, io: CommandIo) {
  const place = await namedPlace({ config });
  const { postgres } = place.storage ?? {};
  if (!place.storage || postgres === undefined)
    throw new CliError(
      'This installation is on SQLite.',
      exitCodes.usage,
      `Put a backup back with ${programName} restore: it ends everything that was issued.`,
      'same_storage',
    );
  const { acceptDatabase } = await import('../../../storage/postgres/index.ts');
  const machine = { data: place.data, env: io.env, isNew: false };
  let asOf: number | undefined;
  await acceptDatabase({
    ...(await toCopyPlace(place.storage, postgres, machine)),
    ...announceWaits(io.stderr),
    keepLogins,
    async note(append, lastEventAt) {
      asOf = lastEventAt;
      const { noteRestored } = administerInstallation(async (event, details) =>
        append({ at: Math.floor(io.now()), event, details: { operator: operatingUser(), ...details } }),
      );
      await noteRestored({ asOf, keptLogins: keepLogins });
    },
  });
  const sentences = [
    `The last event in this database is of ${isoTime(asOf)}.`,
    keepLogins
      ? 'Consents, tokens and logins are as they were.'
      : 'All consents, tokens and logins have ended: everybody must log in again. Check what was refused since: gatehouse account list, gatehouse client list.',
  ];
  io.stdout.write(
    json
      ? formatJson({ keptLogins: keepLogins, ...(asOf === undefined ? {} : { asOf }) })
      : `${sentences.join('\n')}\n`,
  );
}

async function copy(options: CopyCommandOptions, io: CommandIo): Promise<void> {
  const from = await toPlace(options.from);
  const to = await toPlace(options.to);
  requireOtherKind(from, to);
  const moves = options.keepSource !== true;
  const line = startProgressLine(io, 'Opening both places …');
  let source: CopySource | undefined;
  let target: CopyTarget | undefined;
  let copied: CopiedInstallation;
  try {
    source = await openSource(from, io.env);
    target = await openTarget(to, io.env);
    copied = await copyInstallation(source, target, {
      moves,
      now: Math.floor(Date.now() / 1000),
      onProgress: ({ step, table, done, total }) =>
        line.say(
          `${step === 'copy' ? 'Copying' : 'Checking the copy of'} ${table}: ${formatCount(done)} of ${formatCount(total)} rows`,
        ),
    });
  } finally {
    line.end();
    await target?.close();
    await source?.close();
  }
  await withAdministration(namedBy(options.to), false, ({ installation }) =>
    installation.noteCopied({ from: source.description }),
  );
  report(copied, { source: source.description, target: target.description, moves, options, io });
}

/** Returns the place that a folder or a config file names. @throws CliError if it names none */
async function toPlace(named: string): Promise<InstallationPlace> {
  return namedPlace(namedBy(named));
}

function namedBy(named: string): InstallationOptions {
  const isFile = statSync(named, { throwIfNoEntry: false })?.isFile() ?? named.endsWith('.json');
  return isFile ? { config: named } : { data: named };
}

function requireOtherKind(from: InstallationPlace, to: InstallationPlace): void {
  const [source, target] = [isOnPostgres(from), isOnPostgres(to)];
  if (source !== target) return;
  throw new CliError(
    `Both places are on ${source ? 'PostgreSQL' : 'SQLite'}: an installation is copied from one database to the other.`,
    exitCodes.usage,
    source
      ? 'Between databases of PostgreSQL use pg_dump and pg_restore.'
      : 'Between folders use gatehouse backup and gatehouse restore --keep-logins. A config file names PostgreSQL in its setting storage.',
    'same_storage',
  );
}

async function openSource(place: InstallationPlace, env: CommandIo['env']): Promise<CopySource> {
  const { data, storage } = place;
  if (storage?.postgres === undefined) {
    const { openCopySource } = await import('../../../storage/sqlite/index.ts');
    return openCopySource(data);
  }
  const { openCopySource } = await import('../../../storage/postgres/index.ts');
  return openCopySource(await toCopyPlace(storage, storage.postgres, { data, env, isNew: false }));
}

async function openTarget(place: InstallationPlace, env: CommandIo['env']): Promise<CopyTarget> {
  const { data, storage } = place;
  if (storage?.postgres === undefined) {
    const { openCopyTarget } = await import('../../../storage/sqlite/index.ts');
    return openCopyTarget(data);
  }
  const { openCopyTarget } = await import('../../../storage/postgres/index.ts');
  return openCopyTarget(await toCopyPlace(storage, storage.postgres, { data, env, isNew: true }));
}

async function toCopyPlace(
  { masterKey, pooled }: StorageSettings,
  postgres: NonNullable<StorageSettings['postgres']>,
  machine: { data: string; env: CommandIo['env']; isNew: boolean },
) {
  const { findDatabaseUrl, findMasterKey } = await import('../../../storage/postgres/index.ts');
  return {
    ...{ url: await findDatabaseUrl(postgres, machine.env), pooled },
    masterKey: () => findMasterKey(masterKey, machine),
  };
}

const formatCount = (count: number): string => count.toLocaleString('en-US');

function report(
  { tables, auditFaults }: CopiedInstallation,
  parts: { source: string; target: string; moves: boolean; options: CopyCommandOptions; io: CommandIo },
): void {
  const { source, target, moves, options, io } = parts;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const sentences = [
    `Copied ${formatCount(rows)} rows in ${tables.length} tables, and the keys, from ${source} to ${target}. Both are equal.`,
    moves
      ? `Servers refuse ${source} from now on. Start them with the settings of the new place; keep the old one until you have a backup of the new one.`
      : `Servers can still use ${source}. Do not run both for users: a token used at one place could be used again at the other.`,
  ];
  io.stdout.write(
    options.json
      ? formatJson({ from: source, to: target, sourceMoved: moves, rows, tables, auditFaults })
      : `${sentences.join('\n')}\n`,
  );
  if (auditFaults > 0)
    throw new CliError(
      `The copy is complete. The audit log has ${auditFaults} ${auditFaults === 1 ? 'fault' : 'faults'}, at the source as well.`,
      exitCodes.faultsFound,
      `See them: ${programName} audit verify ${isConfig(options.to) ? '--config' : '--data'} ${shellWord(options.to)}`,
      'audit_changed',
    );
}

const isConfig = (named: string): boolean => statSync(named, { throwIfNoEntry: false })?.isFile() === true;
