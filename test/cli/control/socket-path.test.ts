import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkOwnFolder, controlSocketPath } from '../../../src/cli/control/socket-path.ts';

function folder(name: string): string {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'gatehouse-socket-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, name));
  return join(root, name);
}

it('the socket stands in the data folder', () => {
  const data = folder('data');
  expect(controlSocketPath(data)).toEqual({ path: join(data, 'control.sock') });
});

it('a data folder with a long path has its socket elsewhere, in a folder of the user, and no two share one', () => {
  const [one, other] = [controlSocketPath(folder('x'.repeat(90))), controlSocketPath(folder('x'.repeat(90)))];
  expect(Buffer.byteLength(one.path)).toBeLessThanOrEqual(103);
  expect(dirname(one.path)).toBe(one.folder);
  expect(one.path).not.toBe(other.path);
});

it('a folder that others can write to, or that is not there, is not asked in', () => {
  const own = folder('own');
  chmodSync(own, 0o700);
  expect(() => checkOwnFolder(own)).not.toThrow();
  chmodSync(own, 0o770);
  expect(() => checkOwnFolder(own)).toThrow('is not of this user alone');
  expect(() => checkOwnFolder(join(own, 'none'))).toThrow('ENOENT');
});
