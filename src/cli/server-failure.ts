import { AdministrationRefused } from '../authorization-server/administration/administration-refused.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { DatabaseLocked } from '../storage/sqlite/connection/exclusive-lock.ts';
import { KeyFileFault } from '../storage/sqlite/index.ts';
import { StorageFault, StorageUnavailable } from '../storage/storage.ts';
import { CliError, exitCodes } from './cli-error.ts';

/**
 * Maps an error of the server or its data to a sentence and an exit code.
 * @param error what a command threw
 * @returns the sentence with its exit code, whose cause it is; undefined for an unexpected error
 */
export function explainServerFailure(error: unknown): CliError | undefined {
  const explained = explain(error);
  if (explained) explained.cause = error;
  return explained;
}

function explain(error: unknown): CliError | undefined {
  const { usage, cannotServe } = exitCodes;
  if (error instanceof SettingsRefused)
    return new CliError(error.message, usage, undefined, 'settings_refused');
  if (error instanceof AdministrationRefused)
    return new CliError(error.message, usage, undefined, error.reason);
  if (error instanceof DatabaseLocked)
    return new CliError(error.message, cannotServe, undefined, 'database_held');
  if (error instanceof StorageFault)
    return new CliError(error.message, cannotServe, undefined, 'database_unusable');
  if (error instanceof KeyFileFault)
    return new CliError(error.message, cannotServe, undefined, 'key_file_unusable');
  if (error instanceof StorageUnavailable)
    return new CliError(error.message, cannotServe, undefined, 'storage_unavailable');
  return undefined;
}
