import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own, open to its owner only, gone at the end of the running test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
