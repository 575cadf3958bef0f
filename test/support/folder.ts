import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder of its own for a whole test file, gone at its end; call it at the top of the file. */
export function testFolderForFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-file-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
