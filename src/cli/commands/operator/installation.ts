import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { SettingsRefused } from '../../../settings/issues.ts';
import { checkDatabaseState, DatabaseLocked } from '../../../storage/sqlite/connection/exclusive-lock.ts';
import { dataFiles, holdsDatabase } from '../../../storage/sqlite/data-folder/data-folder.ts';
import { isMountedReadOnly, openReadOnly } from '../../../storage/sqlite/data-folder/read-only.ts';
import { type DataFolder, openDataFolder, type SchemaUpgrade } from '../../../storage/sqlite/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, printableLine, processIo } from '../../output.ts';

/** Where the commands of an operator find the installation. */
export interface InstallationOptions {
  config?: string;
  data?: string;
}

const databaseIn = (folder: string): string => join(folder, dataFiles.database);

/** @returns whether a data folder has a database; an empty file is none. @throws CliError where it cannot be looked for */
export function hasDatabase(folder: string): boolean {
  try {
    return holdsDatabase(folder);
  } catch {
    throw new CliError(
      'This user cannot enter the data folder.',
      exitCodes.cannotServe,
      'Run the command as the user the server runs as.',
      'no_access',
    );
  }
}

/** @param folder a data folder. @throws CliError where there is no database, or it cannot be looked for */
export function requireDatabase(folder: string): void {
  if (hasDatabase(folder)) return;
  throw new CliError(
    `There is no Gatehouse database in ${printableLine(folder)}.`,
    exitCodes.cannotServe,
    'Name the data folder with --data or the config file with --config, or start the server once to make it.',
    'no_database',
  );
}

/** @param folder a data folder that was named. @throws CliError where it is not there: most often a slip of the pen */
function requireFolder(folder: string): void {
  if (existsSync(folder)) return;
  throw new CliError(
    `There is no folder ${printableLine(folder)}.`,
    exitCodes.cannotServe,
    'Look at the name after --data. For a new installation make the folder first, or start the server once.',
    'no_folder',
  );
}

/**
 * Finds where an installation is, or would be; faults elsewhere in the config file do not matter while there is a
 * database.
 * @returns its path, absolute
 * @throws CliError where the file does not tell, because of a SettingsRefused; SettingsRefused
 */
async function locateData(options: InstallationOptions): Promise<string> {
  const folder = await namedDataFolder(options);
  // A misspelt `data` leads to a folder with nothing in it: the fault says more than that.
  if (options.data === undefined && !hasDatabase(folder))
    (await loadSettingsReader()).loadSettings(options.config, {});
  return folder;
}

/**
 * The data folder that options name, whether it is there or not. Where they name the folder itself, no config file is
 * read; else of the file its `data` alone.
 * @returns its path, absolute
 * @throws CliError where the file does not tell, because of a SettingsRefused
 */
export async function namedDataFolder({ config, data }: InstallationOptions): Promise<string> {
  if (data !== undefined) return resolve(data);
  const { loadSome } = await loadSettingsReader();
  try {
    return loadSome(config, ['data']).data;
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error;
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
 * Finds the data folder of an installation that is there, as its options or its config file name it.
 * @returns its path, absolute
 * @throws CliError where there is no installation; SettingsRefused
 */
export async function findDataFolder(options: InstallationOptions): Promise<string> {
  const data = await locateData(options);
  requireDatabase(data);
  return data;
}

/** Gives what says on standard error that a database has to be brought up: nothing earlier can use it then. */
export function announceUpgrade(stderr: CommandIo['stderr']): (upgrade: SchemaUpgrade) => void {
  return ({ from, to }) =>
    void stderr.write(
      `The database is of an earlier version. It has to be brought from schema ${from} to ${to}, which earlier versions do not know.\n`,
    );
}

/** Gives what says on standard error that a new database is made beside keys that had one, it seems. @param data folder */
function announceNewDatabase(data: string, stderr: CommandIo['stderr']): (keysFrom: number) => void {
  return (keysFrom) =>
    void stderr.write(
      `${describeMissingDatabase(data, keysFrom)}: a new one is made, without accounts and logins. If there was one before, stop this and restore a backup, with --replace.\n`,
    );
}

/** How often it is looked whether another process still has the database for itself, in milliseconds. */
const lookAgainMs = 250;

/** Waits while another process has the database for itself, which may take minutes, and says so. */
async function waitWhileHeld(
  data: string,
  stderr: CommandIo['stderr'],
  signal: AbortSignal | undefined,
): Promise<void> {
  const file = databaseIn(data);
  if (checkDatabaseState(file) !== 'held') return;
  stderr.write(
    'Another process has the database for itself, as one has that brings it to a new schema. Waiting for it.\n',
  );
  do await pause(lookAgainMs, undefined, signal && { signal });
  while (checkDatabaseState(file) === 'held');
}

/**
 * Opens a data folder, and says on standard error where its database has to be brought up, is a new one beside old keys,
 * or another process is waited for that has it for itself.
 * @param data path of the folder
 * @param signal ends the wait
 * @throws StorageFault, such as DatabaseLocked where another process reads the database and lets nobody write; KeyFileFault; the
 * AbortError of the signal
 */
export async function openInstallation(
  data: string,
  { stderr }: Pick<CommandIo, 'stderr'> = processIo(),
  signal?: AbortSignal,
): Promise<DataFolder> {
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
 * @param mayCreate whether an installation may be made: in the folder of the config file or the default one, or in an
 *   existing one that `--data` names; otherwise a missing one is an error, most often a wrong path
 * @throws CliError where there is no installation; StorageFault, KeyFileFault, SettingsRefused
 */
export async function withAdministration<T>(
  options: InstallationOptions,
  mayCreate: boolean,
  work: (administration: ReturnType<typeof createAdministration>) => Promise<T>,
): Promise<T> {
  const data = await locateData(options);
  if (!mayCreate) requireDatabase(data);
  else if (options.data !== undefined) requireFolder(data);
  const isReadOnly = hasDatabase(data) && isMountedReadOnly(data);
  const folder = await (isReadOnly ? openReadOnly(data) : openInstallation(data));
  try {
    return await work(createAdministration(folder));
  } finally {
    await folder.storage.close();
  }
}

/**
 * Begins the sentence on a data folder that seems to have lost its database: its keys are older than a first start
 * leaves them (T-172).
 * @param data path of the folder
 * @param keysFrom when the oldest of its keys was made, epoch seconds
 */
export function describeMissingDatabase(data: string, keysFrom: number): string {
  const day = new Date(keysFrom * 1000).toISOString().slice(0, 10);
  return `No database was found in ${printableLine(data)}, though its keys are of ${day}`;
}

/**
 * Loads what reads config files: half of what a command of an operator loads, and one that is given the data folder needs
 * none of it.
 */
export const loadSettingsReader = (): Promise<typeof import('../../../config/load.ts')> =>
  import('../../../config/load.ts');

/** The options every command of an operator takes. @returns the command, for more options and its action */
export function operatorCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--data <folder>', 'data folder of the server (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .option('--json', 'print JSON');
}

/** A time as tables show it. @param epochSeconds undefined gives a dash */
export function isoTime(epochSeconds: number | undefined): string {
  return epochSeconds === undefined ? '-' : new Date(epochSeconds * 1000).toISOString();
}
