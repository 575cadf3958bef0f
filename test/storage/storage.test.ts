import { describe, expect, it } from 'vitest';
import { StorageFault, StorageUnavailable } from '../../src/storage/storage.ts';

describe('failures of the storage', () => {
  it('carry their cause, and their names tell them apart in a log', () => {
    const cause = new Error('disk');
    expect(new StorageUnavailable('later', { cause })).toMatchObject({ name: 'StorageUnavailable', cause });
    expect(new StorageFault('never', { cause })).toMatchObject({ name: 'StorageFault', cause });
  });
});
