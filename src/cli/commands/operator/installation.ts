import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { SettingsRefused } from '../../../settings/issues.ts';
import type { StorageSettings } from '../../../settings/storage.ts';
import type { PostgresInstallation } from '../../../storage/postgres/index.ts';
import { checkDatabaseState, DatabaseLocked } from '../../../storage/sqlite/connection/exclusive-lock.ts';
import { dataFiles, holdsDatabase } from '../../../storage/sqlite/data-folder/data-folder.ts';
import { isMountedReadOnly, openReadOnly } from '../../../storage/sqlite/data-folder/read-only.ts';
import { type DataFolder, openDataFolder, type SchemaUpgrade } from '../../../storage/sqlite/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, printableLine, processIo } from '../../output.ts';

/** Options that name the installation. */
export interface InstallationOptions {
  config?: string;
  data?: string;
}

/** The place of an installation's state: the data folder of this machine, and the settings of the database. */
export interface InstallationPlace {
  /** Path of the folder. */
  data: string;
  /** Default: SQLite in the folder. */
  storage?: StorageSettings;
}

/** Returns whether the database of an installation is PostgreSQL. */
export function isOnPostgres({ storage }: Pick<InstallationPlace, 'storage'>): boolean {
  return storage?.postgres !== undefined;
}

/** An opened installation: the state that `createGatehouse` needs. */
export type Installation = DataFolder | PostgresInstallation;

const databaseIn = (folder: string): string => join(folder, dataFiles.database);

/**
 * Checks if an installation has a database; an empty file is none. One on PostgreSQL is looked at when it is opened.
 * @throws CliError if the folder cannot be read
 */
export function hasDatabase(place: InstallationPlace): boolean {
  if (isOnPostgres(place)) return true;
  try {
    return holdsDatabase(place.data);
  } catch {
    throw new CliError(
      'This user cannot enter the data folder.',
      exitCodes.cannotServe,
      'Run the command as the user the server runs as.',
      'no_access',
    );
  }
}

/** Requires a database in a data folder. @throws CliError if there is none, or the folder cannot be read */
function requireDatabase(place: InstallationPlace): void {
  if (hasDatabase(place)) return;
  throw new CliError(
    `There is no Gatehouse database in ${printableLine(place.data)}.`,
    exitCodes.cannotServe,
    'Name the data folder with --data or the config file with --config, or start the server once to create it.',
    'no_database',
  );
}

/** Requires that a data folder exists. @throws CliError if not: most often its name is mistyped */
function requireFolder(folder: string): void {
  if (existsSync(folder)) return;
  throw new CliError(
    `There is no folder ${printableLine(folder)}.`,
    exitCodes.cannotServe,
    'Check the path after --data. For a new installation create the folder first, or start the server once.',
    'no_folder',
  );
}

/**
 * Finds the place of an installation, which may not exist yet. If there is a database, other problems of the config file do
 * not matter.
 * @throws CliError caused by a SettingsRefused, if the file does not name the place; SettingsRefused
 */
async function locate(options: InstallationOptions): Promise<InstallationPlace> {
  const place = await namedPlace(options);
  // A misspelt `data` leads to a folder with nothing in it: the fault says more than that.
  if (options.data === undefined && !hasDatabase(place))
    (await loadSettingsReader()).loadSettings(options.config, {});
  return place;
}

/**
 * Returns the place that the options name; it may not exist. Of the config file only `data` and `storage` are read. With
 * `--data` it need not be readable: then the database is SQLite in that folder.
 * @throws CliError caused by a SettingsRefused, if the file does not name the place
 */
export async function namedPlace({ config, data }: InstallationOptions): Promise<InstallationPlace> {
  if (data !== undefined && config === undefined) return { data: resolve(data) };
  const { loadSome } = await loadSettingsReader();
  try {
    const place = loadSome(config, ['data', 'storage']);
    return data === undefined ? place : { ...place, data: resolve(data) };
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error;
    if (data !== undefined) return { data: resolve(data) };
    const failure = new CliError(
      error.message,
      exitCodes.usage,
      'While the config file does not say where the data is, name the folder with --data.',
      'settings_refused',
    );
    failure.cause = error;
    throw failure;
  }
}

/**
 * Finds the data folder of an existing installation, by its options or its config file.
 * @returns its path, absolute
 * @throws CliError if there is no installation; SettingsRefused
 */
export async function findDataFolder(options: InstallationOptions): Promise<string> {
  return (await findInstallation(options)).data;
}

/**
 * Finds an existing installation, by its options or its config file.
 * @throws CliError if there is no installation; SettingsRefused
 */
export async function findInstallation(options: InstallationOptions): Promise<InstallationPlace> {
  const place = await locate(options);
  requireDatabase(place);
  return place;
}

/** Returns a function that announces a schema upgrade on standard error, and which versions can use the database then. */
export function announceUpgrade(stderr: CommandIo['stderr']): (upgrade: SchemaUpgrade) => void {
  return ({ from, to, minReader = to }) =>
    void stderr.write(
      `The database is of an earlier version. It is upgraded from schema ${from} to ${to}; ${minReader > from ? 'earlier versions cannot use it afterwards' : `programs of schema ${minReader} or later can use it afterwards`}.\n`,
    );
}

/** Returns functions that announce a schema upgrade of PostgreSQL on standard error, and why it waits. */
export function announceWaits(stderr: CommandIo['stderr']): {
  beforeUpgrade: (upgrade: SchemaUpgrade) => void;
  onWait: (reason: string) => void;
} {
  return {
    beforeUpgrade: announceUpgrade(stderr),
    onWait: (reason) => void stderr.write(`Waiting to upgrade the database. ${reason}\n`),
  };
}

/** Returns a function that warns on standard error that a new database is created next to older keys. */
function announceNewDatabase(data: string, stderr: CommandIo['stderr']): (keysFrom: number) => void {
  return (keysFrom) =>
    void stderr.write(
      `${describeMissingDatabase(data, keysFrom)}: a new one is created, without accounts and logins. If there was one before, stop this and restore a backup, with --replace.\n`,
    );
}

/** Poll interval while another process locks the database, in milliseconds. */
const lookAgainMs = 250;

/** Waits while another process locks the database, which may take minutes, and says so on standard error. */
async function waitWhileHeld(
  data: string,
  stderr: CommandIo['stderr'],
  signal: AbortSignal | undefined,
): Promise<void> {
  const file = databaseIn(data);
  if (checkDatabaseState(file) !== 'held') return;
  stderr.write(
    'Another process has locked the database, for example to upgrade its schema. Waiting for it.\n',
  );
  do await pause(lookAgainMs, undefined, signal && { signal });
  while (checkDatabaseState(file) === 'held');
}

/** Options of {@link openInstallation}. */
interface OpeningOptions {
  /** Ends the wait. */
  signal?: AbortSignal;
  /** Called if PostgreSQL may lack acknowledged commits, also while the installation is open; default: standard error. */
  onOtherServer?: (sentence: string) => void;
}

/**
 * Opens an installation. Says on standard error if its database is upgraded, is new next to older keys, or is locked by
 * another process.
 * @throws StorageFault, such as DatabaseLocked if another process reads the database and lets nobody write; KeyFileFault; the
 * AbortError of the signal
 */
export async function openInstallation(
  { data, storage }: InstallationPlace,
  { stderr, env }: Pick<CommandIo, 'stderr' | 'env'> = processIo(),
  { signal, onOtherServer = (sentence) => void stderr.write(`Warning: ${sentence}\n`) }: OpeningOptions = {},
): Promise<Installation> {
  if (storage?.postgres !== undefined) {
    // Loaded if it is used: an installation on SQLite does not need the driver.
    const { openPostgresInstallation } = await import('../../../storage/postgres/index.ts');
    return openPostgresInstallation(storage, data, env, {
      ...announceWaits(stderr),
      onOtherServer,
      signal,
    });
  }
  for (let mayBeFree = false; ; ) {
    await waitWhileHeld(data, stderr, signal);
    try {
      return await openDataFolder(data, {
        beforeUpgrade: announceUpgrade(stderr),
        onDatabaseMissing: announceNewDatabase(data, stderr),
      });
    } catch (error) {
      if (!(error instanceof DatabaseLocked)) throw error;
      const isHeld = checkDatabaseState(databaseIn(data)) === 'held';
      // It may just have been let go of; one that can be read and yet not be opened again is in the way of others.
      if (!isHeld && mayBeFree) throw error;
      mayBeFree = !isHeld;
    }
    // Opening waits without the event loop: this alone lets a signal in.
    await pause(lookAgainMs, undefined, signal && { signal });
  }
}

/**
 * Opens an installation for an operator's command and closes it afterwards. The server may be running.
 * @param mayCreate allows creating an installation: in the folder of the config file, in the default folder, or in an
 *   existing folder named by `--data`; otherwise a missing installation is an error, most often a wrong path
 * @throws CliError if there is no installation; StorageFault, KeyFileFault, SettingsRefused
 */
export async function withAdministration<T>(
  options: InstallationOptions,
  mayCreate: boolean,
  work: (administration: ReturnType<typeof createAdministration>) => Promise<T>,
): Promise<T> {
  const place = await locate(options);
  const { data } = place;
  if (!mayCreate) requireDatabase(place);
  else if (options.data !== undefined) requireFolder(data);
  const isReadOnly = !isOnPostgres(place) && hasDatabase(place) && isMountedReadOnly(data);
  const installation = await (isReadOnly ? openReadOnly(data) : openInstallation(place));
  try {
    return await work(createAdministration(installation));
  } finally {
    await installation.storage.close();
  }
}

/**
 * Starts the sentence about a data folder that seems to have lost its database: its keys are older than after a first start
 * (T-172).
 * @param data path of the folder
 * @param keysFrom creation of its oldest key, in epoch seconds
 */
export function describeMissingDatabase(data: string, keysFrom: number): string {
  const day = new Date(keysFrom * 1000).toISOString().slice(0, 10);
  return `No database was found in ${printableLine(data)}, although its keys are from ${day}`;
}

/**
 * Loads the reader of config files. It is half of what an operator's command loads, and a command with `--data` does not
 * need it.
 */
export const loadSettingsReader = (): Promise<typeof import('../../../config/load.ts')> =>
  import('../../../config/load.ts');

/** Adds an operator's command with the options that all of them have. */
export function operatorCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--data <folder>', 'data folder of the server (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .option('--json', 'print JSON');
}

/** Formats a time for tables. @param epochSeconds a dash stands for undefined */
export function isoTime(epochSeconds: number | undefined): string {
  return epochSeconds === undefined ? '-' : new Date(epochSeconds * 1000).toISOString();
}
