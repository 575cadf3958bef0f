import { AdministrationRefused } from '../authorization-server/administration/administration-refused.ts';
import { SettingsRefused } from '../settings/settings-refused.ts';
import { KeyFileFault } from '../storage/sqlite/index.ts';
import { StorageFault, StorageUnavailable } from '../storage/storage.ts';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';

/**
 * Says what a failure of the server or its data means at the command line.
 * @param error what a command threw
 * @returns the sentence with its exit code; undefined for a failure that nobody foresaw
 */
export function explainServerFailure(error: unknown): CliError | undefined {
  if (error instanceof SettingsRefused || error instanceof AdministrationRefused)
    return new CliError(error.message, exitCodes.usage);
  if (error instanceof StorageFault || error instanceof KeyFileFault || error instanceof StorageUnavailable)
    return new CliError(error.message, exitCodes.cannotServe);
  return undefined;
}
