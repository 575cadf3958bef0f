import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readPrivateFile,
  replacePrivateFile,
  requirePrivateFolder,
} from '../../../src/client/node/private-file.ts';
import { mayMount } from '../../flows/faults/support/faulty-machine.ts';
import { testFolder } from '../support/folder.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('a private folder', () => {
  it('is made with mode 0700 (T-188)', async () => {
    const folder = join(testFolder(), 'a', 'b');
    await requirePrivateFolder(folder);
    expect(modeOf(folder)).toBe('700');
  });

  it('is refused where others can enter it, with the command that closes it (T-188)', async () => {
    const folder = join(testFolder(), 'open');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    await expect(requirePrivateFolder(folder)).rejects.toThrow(`chmod 700 "${folder}"`);
  });

  it('that the system refuses is named, with what to do (T-188)', async () => {
    const file = join(testFolder(), 'file');
    writeFileSync(file, '', { mode: 0o600 });
    for (const use of [requirePrivateFolder, readPrivateFile])
      await expect(use(join(file, 'below'))).rejects.toMatchObject({
        reason: 'store_unusable',
        message: `${join(file, 'below')} cannot be used by this user (ENOTDIR). Have it belong to you, or name another folder in GATEHOUSE_HOME.`,
      });
  });

  it('that this user may not write to is refused, with what to do (T-188)', () => {
    const folder = testFolder();
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(folder, 65_534, 65_534);
    else chmodSync(folder, 0o500);
    const module = new URL('../../../src/client/node/private-file.ts', import.meta.url);
    const script = `import { requirePrivateFolder } from '${module}';
      await requirePrivateFolder('${folder}').catch(({ reason, message }) => console.log(reason, message));`;
    const powerless = ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all', '--no-new-privs'];
    const [program = '', ...args] = [...(isRoot ? powerless : []), process.execPath];
    const said = execFileSync(program, [...args, '--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(said).toContain(
      `store_unusable ${folder} cannot be used by this user (EACCES). Have it belong to you`,
    );
  });

  it('is refused where it is a symbolic link or a file (T-188)', async () => {
    const parent = testFolder();
    mkdirSync(join(parent, 'real'), { mode: 0o700 });
    symlinkSync(join(parent, 'real'), join(parent, 'link'));
    writeFileSync(join(parent, 'file'), '');
    symlinkSync(join(parent, 'nowhere'), join(parent, 'link to nowhere'));
    for (const name of ['link', 'link to nowhere', 'file'])
      await expect(requirePrivateFolder(join(parent, name))).rejects.toThrow(
        `${join(parent, name)} is a symbolic link or a file, but must be a folder.`,
      );
  });
});

describe('a private file', () => {
  it('is written with mode 0600, whole, leaving nothing beside it (T-188)', async () => {
    const folder = testFolder();
    const file = join(folder, 'f');
    await replacePrivateFile(file, 'one');
    writeFileSync(`${file}.new`, 'left by a dead process');
    await replacePrivateFile(file, 'two');
    expect([readFileSync(file, 'utf8'), modeOf(file), readdirSync(folder)]).toEqual(['two', '600', ['f']]);
  });

  it.skipIf(!mayMount)('that a full disk does not take stays as it was, with what to do (T-169)', () => {
    const folder = testFolder();
    const module = new URL('../../../src/client/node/private-file.ts', import.meta.url);
    const script = `import { readFileSync, readdirSync } from 'node:fs';
      import { replacePrivateFile } from '${module}';
      await replacePrivateFile('${folder}/f', 'kept');
      await replacePrivateFile('${folder}/f', 'x'.repeat(200_000)).catch(({ message }) => console.log(message));
      console.log(readFileSync('${folder}/f', 'utf8'), readdirSync('${folder}'));`;
    const onSmallDisk = `mount -t tmpfs -o size=64k tmpfs "${folder}" && exec "$@"`;
    const node = [process.execPath, '--input-type=module', '-e', script];
    const said = execFileSync('unshare', ['-m', 'sh', '-c', onSmallDisk, 'sh', ...node], {
      encoding: 'utf8',
    });
    expect(said).toBe(
      `${folder}/f cannot be written: the disk is full (ENOSPC). Free some space and try again.\nkept [ 'f' ]\n`,
    );
  });

  it('that others can read is refused, with the command that closes it (T-188)', async () => {
    const file = join(testFolder(), 'f');
    writeFileSync(file, 'secret');
    chmodSync(file, 0o644);
    await expect(readPrivateFile(file)).rejects.toThrow(`chmod 600 "${file}"`);
  });

  it('that is a symbolic link is not read and not written through (T-188)', async () => {
    const folder = testFolder();
    const file = join(folder, 'f');
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'precious', { mode: 0o600 });
    symlinkSync(victim, file);
    await expect(readPrivateFile(file)).rejects.toThrow('symbolic link');
    symlinkSync(victim, `${file}.new`);
    await replacePrivateFile(file, 'mine');
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  it('is no folder', async () => {
    await expect(readPrivateFile(testFolder())).rejects.toThrow('is a folder, or no file');
  });

  it('that is missing is none', async () => {
    expect(await readPrivateFile(join(testFolder(), 'f'))).toBeUndefined();
  });
});
