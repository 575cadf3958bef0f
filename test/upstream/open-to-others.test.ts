import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { worldReadableMode } from '../../src/upstream/open-to-others.ts';
import { testFolder } from '../client/support/folder.ts';

it.each([
  [0o600, undefined],
  [0o640, undefined],
  [0o604, '604'],
  [0o602, '602'],
  [0o644, '644'],
])('a file of mode %o is open to every user of the machine: %s (T-163)', (mode, open) => {
  const file = join(testFolder(), 'secret');
  writeFileSync(file, 'canary');
  chmodSync(file, mode);
  expect(worldReadableMode(file)).toBe(open);
});

it('a file that is not there is open to nobody', () => {
  expect(worldReadableMode(join(testFolder(), 'secret'))).toBeUndefined();
});
