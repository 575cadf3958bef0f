import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KeyFileFault, loadKeyFile } from '../../src/crypto/key-file.ts';
import { testFolder } from '../client/support/folder.ts';

const newFile = (): string => join(testFolder(), 'gatehouse.keys.json');

describe('the key file', () => {
  it('is made once, readable by its owner alone, and read the next time (T-163)', async () => {
    const file = newFile();
    const keys = await loadKeyFile(file, true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await loadKeyFile(file, false)).toEqual(keys);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1, ...keys });
  });

  it('made by several at once is that of the first, and no draft stays behind', async () => {
    const file = newFile();
    const sets = await Promise.all(Array.from({ length: 8 }, () => loadKeyFile(file, true)));
    expect(new Set(sets.map((keys) => JSON.stringify(keys))).size).toBe(1);
    expect(readdirSync(join(file, '..'))).toEqual(['gatehouse.keys.json']);
  });

  it('is not made where it may not be', async () => {
    const file = newFile();
    await expect(loadKeyFile(file, false)).rejects.toThrow(KeyFileFault);
    expect(existsSync(file)).toBe(false);
  });

  it.each([0o604, 0o640, 0o644, 0o660, 0o601])(
    'of mode %o is refused: others could read or change it (T-163)',
    async (mode) => {
      const file = newFile();
      await loadKeyFile(file, true);
      chmodSync(file, mode);
      await expect(loadKeyFile(file, true)).rejects.toThrow(`(mode ${mode.toString(8)}). Run: chmod 600`);
    },
  );

  it('that only its owner may read is enough', async () => {
    const file = newFile();
    const keys = await loadKeyFile(file, true);
    chmodSync(file, 0o400);
    expect(await loadKeyFile(file, true)).toEqual(keys);
  });

  it.each([
    ['is empty', ''],
    ['is no JSON', '{ "version": 1, "sealing": [ {'],
    ['is null', 'null'],
    ['is of another version', '{"version":2,"sealing":[{}],"cookies":["SECRET"],"signing":[{}]}'],
    ['lacks keys', '{"version":1,"sealing":[],"cookies":["SECRET"],"signing":[]}'],
  ])('that %s is refused, left as it is, and not shown', async (_fault, text) => {
    const file = newFile();
    writeFileSync(file, text, { mode: 0o600 });
    const refusal = await loadKeyFile(file, true).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(KeyFileFault);
    expect(String(refusal)).toMatch(/damaged\. Put its backup back/);
    expect(String(refusal)).not.toContain('SECRET');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
