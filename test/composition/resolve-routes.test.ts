import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fingerprintFiles } from '../../src/composition/resolve-routes.ts';

it('a file named anywhere in settings changes the fingerprint when it was written anew, or came', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'key');
  const settings = { credentials: { key: { from: { file } } }, args: ['file'] };
  const marks = [fingerprintFiles(settings)];
  for (const text of ['one', 'another']) {
    writeFileSync(file, text);
    marks.push(fingerprintFiles(settings), fingerprintFiles(settings));
  }
  const [missing, first, again, changed] = marks;
  expect(again).toBe(first);
  expect(new Set([missing, first, changed]).size).toBe(3);
  expect(fingerprintFiles({ file: 7, other: [null, 'text'] })).toBe('');
});
