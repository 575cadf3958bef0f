import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DatabaseHeld, lookAtDatabase } from '../../../src/storage/sqlite/held-alone.ts';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { testFolder } from '../../client/support/folder.ts';
import { runProgram } from '../../support/program.ts';
import { earlierDatabase } from './earlier-database.ts';

describe('a look at a database', () => {
  it('says whether another process has it for itself, and of which version it is (T-174)', async () => {
    const file = earlierDatabase();
    expect(lookAtDatabase(file)).toBe('earlier');
    const holder = runProgram('test/storage/sqlite/hold-alone.ts', [file, '60000']);
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /held/);
    expect(lookAtDatabase(file)).toBe('held');
    expect(() => openDatabase(file)).toThrow(DatabaseHeld);
    await holder.stop();
    openDatabase(file).close();
    expect(lookAtDatabase(file)).toBe('current');
  });

  it('says nothing of one that is not there, or cannot be read, and leaves it as it is (T-172)', () => {
    const file = join(testFolder(), 'gatehouse.db');
    expect(lookAtDatabase(file)).toBeUndefined();
    writeFileSync(file, '');
    writeFileSync(`${file}-wal`, 'log');
    expect(lookAtDatabase(file)).toBeUndefined();
    expect(statSync(`${file}-wal`).size).toBe(3);
    writeFileSync(file, 'no database at all');
    expect(lookAtDatabase(file)).toBeUndefined();
  });
});
