import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CommandTransport } from '../../../src/client/node/command-transport.ts';
import { testFolder } from '../support/folder.ts';

it('A program that stays although its input has ended is ended', async () => {
  const file = join(testFolder(), 'staying.mjs');
  writeFileSync(
    file,
    `process.on('SIGTERM', () => process.exit());
setInterval(() => undefined, 1_000);
console.log('no JSON');`,
  );
  const transport = new CommandTransport({ command: [process.execPath, file], env: {} });
  const odd = new Promise((resolve) => {
    transport.onerror = resolve;
  });
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  expect(transport.pid).toBeGreaterThan(0);
  expect(await odd).toBeInstanceOf(SyntaxError);
  await transport.close();
  await closed;
  expect(transport.pid).toBeNull();
  await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toMatchObject({
    reason: 'unreachable',
  });
});
