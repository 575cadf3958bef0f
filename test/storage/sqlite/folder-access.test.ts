import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adviseOnFolder } from '../../../src/storage/sqlite/folder-access.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { mayMount } from '../../flows/faults/support/faulty-machine.ts';

/** Looks at a data folder on a file system that is read-only. */
function inspectReadOnly(folder: string): unknown {
  const module = new URL('../../../src/storage/sqlite/index.ts', import.meta.url);
  const script = `import { inspectDataFolder } from '${module}';
    console.log(JSON.stringify(await inspectDataFolder('${folder}')));`;
  const mount = `mount --bind "${folder}" "${folder}" && mount -o remount,ro,bind "${folder}" && exec "$@"`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  return JSON.parse(execFileSync('unshare', ['-m', 'sh', '-c', mount, 'sh', ...node], { encoding: 'utf8' }));
}

describe('the access to a data folder', () => {
  it.skipIf(!mayMount)(
    'is missed before a start where the folder cannot be written, new or used',
    async () => {
      const folder = testFolder();
      const refused = {
        state: 'faulty',
        fault: `${folder} cannot be written (EROFS). Its file system is mounted read-only, and a server needs one that is not: mount it for writing, or name another data folder.`,
      };
      expect(inspectReadOnly(folder)).toEqual(refused);
      await (await openDataFolder(folder)).storage.close();
      expect(inspectReadOnly(folder)).toEqual(refused);
    },
  );

  it('is warned of where every user of the machine has it', () => {
    const folder = testFolder();
    expect(adviseOnFolder(join(folder, 'none'))).toEqual([]);
    chmodSync(folder, 0o770);
    expect(adviseOnFolder(folder)).toEqual([]);
    chmodSync(folder, 0o777);
    expect(adviseOnFolder(folder)).toEqual([
      `All users of this machine may write to the data folder (mode 777), and so put another database and other keys in place. Run: chmod 700 "${folder}"`,
    ]);
  });
});
