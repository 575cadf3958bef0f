import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { uniqueId } from '../../../src/mcp/sdk/participants.ts';

it('gives no id twice, not after a restart either (T-128)', async () => {
  const file = new URL('../../../src/mcp/sdk/participants.ts', import.meta.url).href;
  const script = `import { uniqueId } from ${JSON.stringify(file)}; console.log(uniqueId());`;
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const [before, after] = await Promise.all([run(), run()]);
  const ids = [before.stdout.trim(), after.stdout.trim(), uniqueId(), uniqueId()];
  expect(new Set(ids).size).toBe(4);
  expect(ids.every((id) => /^[\x21-\x7e]{20,64}$/.test(id))).toBe(true);
});
