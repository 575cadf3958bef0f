import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkSecretFile } from '../../../src/upstream/examination/secret-file-check.ts';
import { testFolder } from '../../client/support/folder.ts';

/** A file of a mode in octal. */
function fileOf(mode: string): string {
  const file = join(testFolder(), 'a secret');
  writeFileSync(file, 'canary');
  chmodSync(file, Number.parseInt(mode, 8));
  return file;
}

it.each(['600', '400', '640'])(
  'a file of mode %s is its owner’s, or of the group its owner gave it to',
  (mode) => {
    expect(checkSecretFile({ clientSecretFile: fileOf(mode) })).toMatchObject([
      { id: 'UP-SECRET', verdict: 'pass' },
    ]);
  },
);

it.each(['644', '604', '666'])('a file of mode %s is told, with what to do (T-163)', (mode) => {
  const file = fileOf(mode);
  for (const settings of [{ clientSecretFile: file }, { clientKeyFile: file }])
    expect(checkSecretFile(settings)).toEqual([
      {
        id: 'UP-SECRET',
        verdict: 'warn',
        saw: `${file} can be read by others (mode ${mode}).`,
        fix: `chmod 600 ${JSON.stringify(file)}`,
      },
    ]);
});

it('nothing is said of a secret that stands in the settings', () => {
  expect(checkSecretFile({})).toEqual([]);
});
