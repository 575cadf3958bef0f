import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { explainServerFailure } from '../../src/cli/server-failure.ts';
import { AdministrationRefused } from '../../src/index.ts';
import { StorageFault, StorageUnavailable } from '../../src/storage/storage.ts';

describe('a failure of the server', () => {
  it.each([
    [new AdministrationRefused('The account exists already.'), exitCodes.usage],
    [new StorageFault('The database is damaged.'), exitCodes.cannotServe],
    [new StorageUnavailable('The database is in use.'), exitCodes.cannotServe],
  ])('%s ends with exit code %i', (failure, exitCode) => {
    expect(explainServerFailure(failure)).toMatchObject({ message: failure.message, exitCode });
  });

  it('that nobody foresaw is explained by nobody', () => {
    expect(explainServerFailure(new TypeError('x is not a function'))).toBeUndefined();
  });
});
