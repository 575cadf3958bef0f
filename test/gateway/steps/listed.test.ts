import { expect, it } from 'vitest';
import { entriesOf, lists, withEntries } from '../../../src/gateway/steps/listed.ts';

it('a list has the entries that are objects; a result without one has none', () => {
  const tools = lists.get('tools/list');
  if (!tools) throw new Error('no list');
  expect(entriesOf({ tools: [{ name: 'a' }, 5, null, ['b']] }, tools)).toEqual([{ name: 'a' }]);
  expect([entriesOf({ tools: {} }, tools), entriesOf(undefined, tools)]).toEqual([undefined, undefined]);
});

it('a list is given with other entries and all else it holds; what is no list stays as it is', async () => {
  const none = () => [];
  const listed = { result: { tools: [{ name: 'a' }, { name: 'b' }, 5], nextCursor: 'c' } };
  expect(
    await withEntries('tools/list', listed, (tools) => tools.filter(({ name }) => name === 'b')),
  ).toEqual({
    result: { tools: [{ name: 'b' }], nextCursor: 'c' },
  });
  const others = [{ error: { code: -32603, message: 'x' } }, { result: { tools: 'none' } }];
  for (const answer of others) expect(await withEntries('tools/list', answer, none)).toBe(answer);
  expect(await withEntries('tools/call', listed, none)).toBe(listed);
});
