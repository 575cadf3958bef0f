import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { measureDurableWrite } from '../../bench/disk.ts';
import { testFolder } from '../client/support/folder.ts';

it('tells how long a durable write takes, and leaves nothing behind', async () => {
  const folder = testFolder();
  const ms = await measureDurableWrite(folder);
  expect(ms).toBeGreaterThan(0);
  expect(ms).toBeLessThan(10_000);
  expect(readdirSync(folder)).toEqual([]);
});
