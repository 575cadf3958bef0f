import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createStillThere } from '../../../src/storage/sqlite/still-there.ts';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { testFolder } from '../../client/support/folder.ts';

it('a file is still there until it is moved, replaced or removed, and again when it comes back (T-170)', () => {
  const file = join(testFolder(), 'gatehouse.db');
  writeFileSync(file, 'a');
  const check = createStillThere(file);
  writeFileSync(file, 'changed');
  expect(check).not.toThrow();
  renameSync(file, `${file}.away`);
  expect(check).toThrow(StorageUnavailable);
  copyFileSync(`${file}.away`, file);
  expect(check).toThrow(StorageUnavailable);
  renameSync(`${file}.away`, file);
  expect(check).not.toThrow();
  rmSync(file);
  expect(check).toThrow(StorageUnavailable);
});
