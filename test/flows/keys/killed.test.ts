// Flow of src/crypto/key-file.ts and src/crypto/key-ring.ts: rotations that are killed.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readKeyFile } from '../../../src/crypto/key-file.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { repository } from '../../support/program.ts';

/** Rotates again and again, each time as if the key that waits were in use by now. */
const rotator = `
  const { openDataFolder } = await import('./src/storage/sqlite/index.ts');
  let ahead = 0;
  const { keyRing } = await openDataFolder(process.argv[1], { now: () => Math.floor(Date.now() / 1000) + ahead });
  process.stdout.write('ready');
  for (;;) {
    await keyRing.rotate('cookies');
    ahead += 20;
    keyRing.refresh();
    await keyRing.drop('cookies', keyRing.list().filter((key) => key.kind === 'cookies').slice(3).map(({ id }) => id));
  }
`;

it('a rotation killed at any moment leaves a whole key file, from which the next start goes on (T-166)', async () => {
  const folder = testFolder();
  await (await openDataFolder(folder)).storage.close();
  const file = join(folder, 'gatehouse.keys.json');
  const texts = new Set<string>();
  for (let round = 0; round < 8; round++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', rotator, folder], {
      cwd: repository,
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const begun = new Promise((resolve) => child.stdout.once('data', resolve));
    expect(await Promise.race([begun.then(() => 'rotates'), ended.then(() => 'ended')])).toBe('rotates');
    await wait(20 + round * 7);
    child.kill('SIGKILL');
    await ended;
    texts.add(readFileSync(file, 'utf8'));
    expect(readKeyFile(file).cookies.length).toBeGreaterThan(0);
  }
  expect(texts.size).toBeGreaterThan(3);
}, 120_000);
