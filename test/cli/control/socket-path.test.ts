import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  checkOwnFolder,
  findControlSockets,
  newControlSocket,
} from '../../../src/cli/control/socket-path.ts';

function folder(name: string): string {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'gatehouse-socket-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, name));
  return join(root, name);
}

const pid = process.pid;

it('each server has a socket of its own in the data folder, and all are found by the ids of their processes', () => {
  const data = folder('data');
  const paths = [newControlSocket(data).path, newControlSocket(data).path];
  expect(new Set(paths).size).toBe(2);
  for (const path of [
    ...paths,
    ...['control.sock', 'control-1-2.new', 'control-x-ab.sock'].map((name) => join(data, name)),
  ])
    writeFileSync(path, '');
  expect(paths.map((path) => dirname(path))).toEqual([data, data]);
  expect(findControlSockets(data)).toEqual(expect.arrayContaining(paths.map((path) => ({ path, pid }))));
  expect(findControlSockets(data)).toHaveLength(2);
});

it('a data folder with a long path has its sockets elsewhere, in a folder of the user, and no two share one', () => {
  const [data, otherData] = [folder('x'.repeat(90)), folder('x'.repeat(90))];
  expect(findControlSockets(data)).toEqual([]);
  const [one, other] = [newControlSocket(data), newControlSocket(otherData)];
  expect(Buffer.byteLength(one.path)).toBeLessThanOrEqual(103);
  expect(dirname(one.path)).toBe(one.folder);
  mkdirSync(dirname(one.path), { recursive: true, mode: 0o700 });
  for (const { path } of [one, other]) {
    writeFileSync(path, '');
    onTestFinished(() => rmSync(path));
  }
  expect(findControlSockets(data)).toEqual([{ path: one.path, pid }]);
  expect(findControlSockets(otherData)).toEqual([{ path: other.path, pid }]);
});

it('a folder that others can write to, or that is not there, is not asked in', () => {
  const own = folder('own');
  chmodSync(own, 0o700);
  expect(() => checkOwnFolder(own)).not.toThrow();
  chmodSync(own, 0o770);
  expect(() => checkOwnFolder(own)).toThrow('is not of this user alone');
  expect(() => checkOwnFolder(join(own, 'none'))).toThrow('ENOENT');
});
