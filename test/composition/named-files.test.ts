import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { markFiles } from '../../src/composition/named-files.ts';

it('a file named anywhere in settings leaves another mark when it was written anew, or came', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key');
  const settings = { credentials: { key: { from: { file } } }, args: ['file'] };
  const marks = [markFiles(settings)];
  for (const text of ['one', 'another']) {
    writeFileSync(file, text);
    marks.push(markFiles(settings), markFiles(settings));
  }
  const [missing, first, again, changed] = marks;
  expect(again).toBe(first);
  expect(new Set([missing, first, changed]).size).toBe(3);
  expect(markFiles({ file: 7, other: [null, 'text'] })).toBe('');
});
