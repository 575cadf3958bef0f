import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requireNotInUse } from '../../../src/storage/sqlite/in-use.ts';
import { openDatabase } from '../../../src/storage/sqlite/open.ts';
import { testFolder } from '../../client/support/folder.ts';
import { runProgram } from '../../support/program.ts';

function overwrite(file: string, position: number, length: number): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(length, 'A'), 0, length, position);
  closeSync(descriptor);
}

const damages: [string, (file: string) => void][] = [
  ['sound', () => undefined],
  ['without its header', (file) => overwrite(file, 0, 100)],
  ['without its first page', (file) => overwrite(file, 0, 4096)],
  ['damaged behind its header', (file) => overwrite(file, 100, 3996)],
  ['cut off in its first page', (file) => truncateSync(file, 1000)],
  ['other text', (file) => writeFileSync(file, 'hello\n')],
];

describe.each(damages)('a database that is %s', (_how, damage) => {
  it('is in use while another process has it open, and is left as it is', async () => {
    const file = join(testFolder(), 'gatehouse.db');
    openDatabase(file).close();
    const server = runProgram('test/storage/sqlite/open-and-hold.ts', [file, 'as it is now', '60000']);
    onTestFinished(() => server.stop());
    await server.waitFor('stdout', /open/);
    damage(file);
    const before = readFileSync(file);
    expect(() => requireNotInUse(file)).toThrow(/in use\. Stop the server first; nothing was changed/);
    server.process.kill('SIGKILL');
    await server.ended;
    requireNotInUse(file);
    expect(readFileSync(file)).toEqual(before);
    expect(readdirSync(dirname(file)).filter((name) => !/^gatehouse\.db(-wal|-shm)?$/.test(name))).toEqual(
      [],
    );
  });
});
