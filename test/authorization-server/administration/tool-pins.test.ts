import { expect, it } from 'vitest';
import { administerToolPins } from '../../../src/authorization-server/administration/tool-pins.ts';
import { openForTest } from '../../storage/contract/subject.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

it('changes of tools are accepted as they are noted, and each is recorded with its hash (T-197)', async () => {
  const { toolPins } = await openForTest(openNewDatabase);
  const events: unknown[] = [];
  const pins = administerToolPins(
    toolPins,
    () => 7,
    async (event, details) => void events.push([event, details]),
  );
  await toolPins.add('notes', [{ tool: 'read', hash: 'one' }], 1);
  expect(await pins.accept('notes')).toEqual([]);
  await toolPins.noteChange('notes', { tool: 'read', hash: 'two' }, 2);
  await expect(pins.accept('notes', ['add'])).rejects.toThrow('No change is noted of add of the route notes');
  expect(await pins.accept('notes', ['read'])).toEqual(['read']);
  expect(await pins.list('notes')).toMatchObject([{ hash: 'two', pinnedAt: 7 }]);
  expect([await pins.forget('notes', 'unknown'), await pins.forget('notes')]).toEqual([0, 1]);
  expect(events).toEqual([
    ['tool.definition_accepted', { route: 'notes', tool: 'read', hash: 'two' }],
    ['tool.definition_forgotten', { route: 'notes' }],
  ]);
});
