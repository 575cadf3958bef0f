import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findMissingProgram } from '../../../src/settings/backends/missing-program.ts';
import { testFolder } from '../../client/support/folder.ts';

/** A folder with a program, a file that cannot be run, and a folder. */
function programs(): string {
  const folder = testFolder();
  for (const [name, mode] of [
    ['notes-mcp', 0o755],
    ['a text', 0o644],
  ] as const) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), mode);
  }
  mkdirSync(join(folder, 'folder'));
  return folder;
}

it('a program is there by its name in PATH, and by its path', () => {
  const folder = programs();
  expect(findMissingProgram('notes-mcp', `/nowhere:${folder}`)).toBeUndefined();
  expect(findMissingProgram(join(folder, 'notes-mcp'), undefined)).toBeUndefined();
});

it('one that is not there is said with what to do', () => {
  const folder = programs();
  for (const path of ['/nowhere', '', undefined])
    expect(findMissingProgram('notes-mcp', path)).toContain('install it, correct the name');
  expect(findMissingProgram('folder', folder)).toContain('no program of that name in PATH');
  expect(findMissingProgram(join(folder, 'none'), folder)).toContain('at this path');
  expect(findMissingProgram('a text', folder)).toContain('its arguments stand in args');
});
