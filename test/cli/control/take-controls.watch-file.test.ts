import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { watchForChanges } from '../../../src/cli/control/take-controls.ts';

it('a file is seen to change where it is written and where another takes its place, and not where it goes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-watch-'));
  const file = join(folder, 'gatehouse.json');
  writeFileSync(file, '{}');
  const changed = vi.fn();
  const stop = watchForChanges(file, changed);
  onTestFinished(() => {
    stop();
    rmSync(folder, { recursive: true });
  });
  const seen = (times: number) =>
    vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(times), { timeout: 6000 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  writeFileSync(file, '{ }');
  await seen(1);
  writeFileSync(`${file}.new`, '{ }');
  renameSync(`${file}.new`, file);
  await seen(2);
  rmSync(file);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(changed).toHaveBeenCalledTimes(2);
});
