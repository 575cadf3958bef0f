import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/cli-error.ts';
import { explainServerFailure } from '../../src/cli/failures.ts';
import { AdministrationRefused } from '../../src/index.ts';
import { SettingsRefused } from '../../src/settings/issues.ts';
import { DatabaseLocked } from '../../src/storage/sqlite/connection/exclusive-lock.ts';
import { KeyFileFault } from '../../src/storage/sqlite/index.ts';
import { StorageFault, StorageUnavailable } from '../../src/storage/storage.ts';

describe('a failure of the server', () => {
  it.each([
    [new AdministrationRefused('already_exists', 'There is one.'), exitCodes.usage, 'already_exists'],
    [new SettingsRefused(['publicUrl: wrong']), exitCodes.usage, 'settings_refused'],
    [new StorageFault('The database is damaged.'), exitCodes.cannotServe, 'database_unusable'],
    [new DatabaseLocked(undefined), exitCodes.cannotServe, 'database_held'],
    [new StorageUnavailable('The database is in use.'), exitCodes.cannotServe, 'storage_unavailable'],
    [new KeyFileFault('The key file is damaged.'), exitCodes.cannotServe, 'key_file_unusable'],
  ])('%s ends with exit code %i, and has the name %s', (failure, exitCode, reason) => {
    expect(explainServerFailure(failure)).toMatchObject({ message: failure.message, exitCode, reason });
  });

  it('that nobody foresaw is explained by nobody', () => {
    expect(explainServerFailure(new TypeError('x is not a function'))).toBeUndefined();
  });
});
