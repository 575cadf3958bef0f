import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readOperatorValue } from '../../../src/gateway/credentials/operator-value.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-credential-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string, mode = 0o600): string {
  const file = join(folder, String(Math.random()));
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

describe('a credential of the operator', () => {
  it('comes from a variable by its name, and from nothing else', () => {
    const ours = { KEY: '$OTHER', OTHER: 'secret', EMPTY: '' };
    expect(readOperatorValue({ env: 'KEY' }, ours)).toEqual({ value: '$OTHER' });
    for (const env of ['NONE', 'EMPTY', 'toString'])
      expect(readOperatorValue({ env }, ours)).toEqual({ problem: `the environment has no ${env}: set it` });
  });

  it('comes without the line ends after it, and with the spaces in it', () => {
    const ours = { KEY: 'a key \n', WINDOWS: 'a\nb\r\n', EMPTY: '\n' };
    expect(readOperatorValue({ env: 'KEY' }, ours)).toEqual({ value: 'a key ' });
    expect(readOperatorValue({ env: 'WINDOWS' }, ours)).toEqual({ value: 'a\nb' });
    expect(readOperatorValue({ env: 'EMPTY' }, ours)).toEqual({
      problem: 'the environment has no EMPTY: set it',
    });
    expect(readOperatorValue({ file: fileWith('a-key\n\n') }, {})).toEqual({ value: 'a-key' });
    expect(readOperatorValue({ file: fileWith('a-key\n') }, {})).toEqual({ value: 'a-key' });
    expect(readOperatorValue({ file: fileWith('a\nb\r\n', 0o440) }, {})).toEqual({ value: 'a\nb' });
  });

  it('is refused from a file that everybody on the machine can read, without a word of it (T-163)', () => {
    const file = fileWith('planted-secret', 0o644);
    const refused = readOperatorValue({ file }, {});
    expect(refused).toEqual({ problem: `${file} can be read by others (mode 644): chmod 600 "${file}"` });
    expect(JSON.stringify(refused)).not.toContain('planted');
  });

  it('is refused from a file that is empty or not there', () => {
    const empty = fileWith('\n');
    expect(readOperatorValue({ file: empty }, {})).toEqual({ problem: `${empty} is empty` });
    expect(readOperatorValue({ file: '/nonexistent/key' }, {})).toEqual({
      problem: '/nonexistent/key cannot be read (ENOENT)',
    });
  });
});
