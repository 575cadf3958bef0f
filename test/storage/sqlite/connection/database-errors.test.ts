import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  adviseOnWriting,
  isDamage,
  isFullDisk,
} from '../../../../src/storage/sqlite/connection/database-errors.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { mayMount } from '../../../flows/faults/support/faulty-machine.ts';

describe('what an error of the database comes of', () => {
  it('is told by its code', () => {
    const codes = [
      'SQLITE_CORRUPT_VTAB',
      'SQLITE_NOTADB',
      'SQLITE_IOERR_SHMSIZE',
      'ENOSPC',
      'SQLITE_BUSY',
      undefined,
    ];
    expect(codes.filter((code) => isDamage({ code }))).toEqual(['SQLITE_CORRUPT_VTAB', 'SQLITE_NOTADB']);
    expect(codes.filter((code) => isFullDisk({ code }))).toEqual(['SQLITE_IOERR_SHMSIZE', 'ENOSPC']);
  });

  it.skipIf(!mayMount)('is said of a full disk, at the start and by who looks before it', () => {
    const folder = testFolder();
    const room = new URL('../../../../src/storage/sqlite/index.ts', import.meta.url);
    const script = `import { writeFileSync } from 'node:fs';
      import { inspectDataFolder, openDataFolder } from '${room}';
      await (await openDataFolder('${folder}')).storage.close();
      try { writeFileSync('${folder}/filler', Buffer.alloc(4_000_000)); } catch {}
      console.log((await inspectDataFolder('${folder}')).fault);
      await openDataFolder('${folder}').catch(({ name, message }) => console.log(name, message));`;
    const onSmallDisk = `mount -t tmpfs -o size=2m tmpfs "${folder}" && exec "$@"`;
    const node = [process.execPath, '--input-type=module', '-e', script];
    const said = execFileSync('unshare', ['-m', 'sh', '-c', onSmallDisk, 'sh', ...node], {
      encoding: 'utf8',
    });
    const full =
      'The disk is full (SQLITE_IOERR_SHMSIZE). Free some space and start again; the database needs no backup in its place.\n';
    expect(said).toBe(`${full}StorageFault ${full}`);
  });
});

it('the advice on a folder that cannot be written is another where its file system is mounted read-only', () => {
  expect(adviseOnWriting('EROFS', 'Ask.')).toMatch(/mounted read-only.*mount it for writing/);
  expect(adviseOnWriting('EACCES', 'Ask.')).toBe('Ask.');
  expect(adviseOnWriting(undefined, 'Ask.')).toBe('Ask.');
});
