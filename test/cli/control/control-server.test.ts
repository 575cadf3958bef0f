import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serveControls } from '../../../src/cli/control/control-server.ts';
import { newControlSocket } from '../../../src/cli/control/socket-path.ts';

const controls = { routes: () => [], reload: () => ({}) };

/** Serves a data folder, and tells which other processes it was told of. */
async function serve(folder: string): Promise<number[][]> {
  const told: number[][] = [];
  const stop = await serveControls(
    folder,
    controls,
    (error) => expect.fail(error.message),
    (pids) => told.push([...pids]),
  );
  onTestFinished(stop);
  return told;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-control-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('a second server of a data folder is told of the first, which is told nothing (FA-37)', async () => {
  const folder = newFolder();
  const [first, second] = [await serve(folder), await serve(folder)];
  expect([first, second]).toEqual([[], [[process.pid]]]);
});

it('servers of other folders, and one that was killed, are no others (FA-37)', async () => {
  const folder = newFolder();
  await serve(newFolder());
  const { path } = newControlSocket(folder);
  const left = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', left]);
  expect(await serve(folder)).toEqual([]);
});
