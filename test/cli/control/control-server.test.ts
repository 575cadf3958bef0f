import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serveControls } from '../../../src/cli/control/control-server.ts';
import { findControlSockets, newControlSocket } from '../../../src/cli/control/socket-path.ts';

const controls = { routes: () => [], reload: () => ({}) };

/** Serves a data folder. */
async function serve(folder: string): Promise<void> {
  const stop = await serveControls(folder, controls, (error) => expect.fail(error.message));
  onTestFinished(stop);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-control-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('a second server of a data folder has a socket of its own, and leaves that of the first (FA-37)', async () => {
  const folder = newFolder();
  await serve(folder);
  const [first] = findControlSockets(folder);
  await serve(folder);
  const paths = findControlSockets(folder).map(({ path }) => path);
  expect(paths).toContain(first?.path);
});

it('the socket of a server that was killed is removed by the next one (FA-37)', async () => {
  const folder = newFolder();
  const { path } = newControlSocket(folder);
  const left = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', left]);
  expect(existsSync(path)).toBe(true);
  await serve(folder);
  const { pid } = process;
  expect(findControlSockets(folder).map((found) => found.pid)).toEqual([pid]);
});
