import { expect, it } from 'vitest';
import { administerDefinitionPins } from '../../../src/authorization-server/administration/definition-pins.ts';
import { openForTest } from '../../storage/contract/subject.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

const hash = (digit: string): string => digit.repeat(64);

it('changes of definitions are accepted by the hashes that were seen, and each is recorded with its hash (T-197)', async () => {
  const { definitionPins } = await openForTest(openNewDatabase);
  const events: unknown[] = [];
  const told: string[] = [];
  const pins = administerDefinitionPins(
    definitionPins,
    () => 7,
    async (event, details) => void events.push([event, details]),
    async (route) => void told.push(route),
  );
  await definitionPins.add('notes', [{ kind: 'tool', name: 'read', hash: hash('1') }], 1);
  await definitionPins.noteChange('notes', { kind: 'tool', name: 'read', hash: hash('2') }, 2);
  const seen = hash('2').slice(0, 20);
  await definitionPins.noteChange('notes', { kind: 'tool', name: 'read', hash: hash('3') }, 3);
  for (const given of [seen, hash('3').slice(0, 15), hash('1'), 'read', ''])
    await expect(pins.accept('notes', [hash('3'), given])).rejects.toThrow(
      `No change ${given} of the route notes is noted`,
    );
  expect(await pins.list('notes')).toMatchObject([{ hash: hash('1') }]);
  expect(await pins.accept('notes', [hash('3').slice(0, 20)])).toEqual(['read']);
  expect(await pins.list('notes')).toMatchObject([{ hash: hash('3'), pinnedAt: 7 }]);
  const nothing = (route: string) => `Nothing is remembered of that for ${route}. See gatehouse pins list.`;
  await expect(pins.forget('notes', { name: 'unknown' })).rejects.toThrow(nothing('notes'));
  await expect(pins.forget('/')).rejects.toThrow(nothing('/'));
  expect(await pins.forget('notes')).toBe(1);
  expect(events).toEqual([
    ['definition.accepted', { route: 'notes', kind: 'tool', name: 'read', hash: hash('3') }],
    ['definition.forgotten', { route: 'notes' }],
  ]);
  expect(told).toEqual(['notes', 'notes']);
});
