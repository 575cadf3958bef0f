import { expect, it } from 'vitest';
import { createSessionsInUse } from '../../../src/mcp/legacy/session-registry.ts';

it('sessions in use are those of every registry that is there', async () => {
  const inUse = createSessionsInUse();
  inUse.add(async () => ['a']);
  const remove = inUse.add(async () => ['b', 'c']);
  expect(await inUse.note()).toEqual(['a', 'b', 'c']);
  remove();
  expect(await inUse.note()).toEqual(['a']);
});
