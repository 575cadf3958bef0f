import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createKeyFile,
  KeyFileFault,
  keyFileMark,
  readKeyFile,
  replaceKeyFile,
} from '../../src/crypto/key-file.ts';
import { generateSchedule } from '../../src/crypto/key-file-format.ts';
import { testFolder } from '../client/support/folder.ts';
import { mayMount } from '../flows/faults/support/faulty-machine.ts';

const newFile = (): string => join(testFolder(), 'gatehouse.keys.json');

describe('the key file', () => {
  it('is made once, readable by its owner alone, and read the next time (T-163)', async () => {
    const file = newFile();
    await createKeyFile(file, 1000);
    const text = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await createKeyFile(file, 2000);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(JSON.parse(text)).toEqual({ version: 2, ...readKeyFile(file) });
  });

  it('made by several at once is that of the first, and no draft stays behind', async () => {
    const file = newFile();
    const made = Array.from({ length: 8 }, async () => {
      await createKeyFile(file, 1000);
      return readFileSync(file, 'utf8');
    });
    expect(new Set(await Promise.all(made)).size).toBe(1);
    expect(readdirSync(join(file, '..'))).toEqual(['gatehouse.keys.json']);
  });

  it('that is missing is not read, and not made', () => {
    const file = newFile();
    expect(() => readKeyFile(file)).toThrow(/Put the key file back beside it/);
    expect(existsSync(file)).toBe(false);
  });

  it.each([0o604, 0o640, 0o644, 0o660, 0o601])(
    'of mode %o is refused: others could read or change it (T-163)',
    async (mode) => {
      const file = newFile();
      await createKeyFile(file, 1000);
      chmodSync(file, mode);
      expect(() => readKeyFile(file)).toThrow(`(mode ${mode.toString(8)}). Run: chmod 600`);
    },
  );

  it('that only its owner may read is enough', async () => {
    const file = newFile();
    await createKeyFile(file, 1000);
    const keys = readKeyFile(file);
    chmodSync(file, 0o400);
    expect(readKeyFile(file)).toEqual(keys);
  });

  it.each([
    ['is empty', ''],
    ['is no JSON', '{ "version": 2, "sealing": [ {'],
    ['is null', 'null'],
    ['is of no version', '{"version":"3","sealing":[{}],"cookies":["SECRET"],"signing":[{}]}'],
    ['lacks keys', '{"version":2,"sealing":[],"cookies":["SECRET"],"signing":[],"audit":"SECRET"}'],
    ['lacks lists', '{"version":2,"audit":"SECRET"}'],
    ['of the first version lacks lists', '{"version":1,"cookies":["SECRET"]}'],
  ])('that %s is refused, left as it is, and not shown (T-163, T-179)', (_fault, text) => {
    const file = newFile();
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => readKeyFile(file)).toThrow(KeyFileFault);
    expect(() => readKeyFile(file)).toThrow(/damaged\. Put its backup back/);
    expect(() => readKeyFile(file)).not.toThrow(/SECRET/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('that a newer program wrote is not called damaged: an older one in its place would open nothing new (T-174, T-179)', () => {
    const file = newFile();
    const text = '{"version":3,"keys":["SECRET"]}';
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => readKeyFile(file)).toThrow(KeyFileFault);
    expect(() => readKeyFile(file)).toThrow(
      /^The key file is of version 3, .* Use the newer program .*, or restore a backup/,
    );
    expect(() => readKeyFile(file)).not.toThrow(/SECRET|damaged/);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('is replaced whole, for its owner alone, and another mark tells so', async () => {
    const file = newFile();
    await createKeyFile(file, 1000);
    const mark = keyFileMark(file);
    const next = await generateSchedule(2000);
    replaceKeyFile(file, next);
    expect(readKeyFile(file)).toEqual(next);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(keyFileMark(file)).not.toBe(mark);
    expect(readdirSync(join(file, '..'))).toEqual(['gatehouse.keys.json']);
    expect(keyFileMark(join(file, '..', 'none'))).toBe('');
  });

  it.skipIf(!mayMount)('stays as it was on a full disk, which is said, with nothing left beside it', () => {
    const folder = dirname(newFile());
    const room = new URL('../../src/crypto/', import.meta.url);
    const script = `import { readdirSync, writeFileSync } from 'node:fs';
      import { createKeyFile, readKeyFile, replaceKeyFile } from '${room}key-file.ts';
      const file = '${folder}/gatehouse.keys.json';
      const say = ({ name, message }) => console.log(name, message);
      await createKeyFile(file, 1);
      const before = readKeyFile(file);
      try { writeFileSync('${folder}/filler', Buffer.alloc(1_000_000)); } catch {}
      try { replaceKeyFile(file, before); } catch (error) { say(error); }
      await createKeyFile('${folder}/other.json', 1).catch(say);
      readKeyFile(file);
      console.log(readdirSync('${folder}').sort().join());`;
    const said = execFileSync(
      'unshare',
      [
        ...['-m', 'sh', '-c', `mount -t tmpfs -o size=64k tmpfs "${folder}" && exec "$@"`, 'sh'],
        ...[process.execPath, '--input-type=module', '-e', script],
      ],
      { encoding: 'utf8' },
    );
    const full =
      'KeyFileFault The keys cannot be written: the disk is full (ENOSPC). Free some space and try again; nothing was changed.\n';
    expect(said).toBe(`${full}${full}filler,gatehouse.keys.json\n`);
  });
});
