import { describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { describeCommits } from '../contract/commits.ts';
import { describeNotes } from '../contract/notes.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => {
  describeCommits(openNewDatabase);

  it('says that it is unavailable where it cannot be read', async () => {
    const storage = openNewDatabase();
    await storage.close();
    await expect(storage.ping()).rejects.toBeInstanceOf(StorageUnavailable);
  });
});

describe('SQLite', () => describeNotes(openNewDatabase));
