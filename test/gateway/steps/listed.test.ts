import { expect, it } from 'vitest';
import { entriesOf, lists } from '../../../src/gateway/steps/listed.ts';

it('a list has the entries that are objects; a result without one has none', () => {
  const tools = lists.get('tools/list');
  if (!tools) throw new Error('no list');
  expect(entriesOf({ tools: [{ name: 'a' }, 5, null, ['b']] }, tools)).toEqual([{ name: 'a' }]);
  expect([entriesOf({ tools: {} }, tools), entriesOf(undefined, tools)]).toEqual([undefined, undefined]);
});
