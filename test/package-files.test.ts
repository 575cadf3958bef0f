import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packageFile, packageVersion } from '../src/package-files.ts';

it('the version is the version of the package', () => {
  expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
});

it('a file of the package is found from its root', () => {
  expect(existsSync(packageFile('migrations/sqlite/'))).toBe(true);
});
