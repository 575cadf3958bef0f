import { describe, expect, it } from 'vitest';
import { type OpenStorage, openForTest, startOfTime } from './subject.ts';

/** What every store of pinned definitions does. */
export function describeDefinitionPins(open: OpenStorage): void {
  describe('pinned definitions', () => {
    const read = { kind: 'tool', name: 'read' } as const;

    it('stay as they were first seen, each route’s and each kind’s own (T-160, T-210)', async () => {
      const { definitionPins } = await openForTest(open);
      await definitionPins.add('notes', [{ ...read, hash: 'one', definition: '{}' }], startOfTime);
      await definitionPins.add(
        'notes',
        [
          { ...read, hash: 'two' },
          { kind: 'prompt', name: 'read', hash: 'x' },
        ],
        startOfTime + 1,
      );
      await definitionPins.add('files', [{ ...read, hash: 'three' }], startOfTime);
      expect(await definitionPins.list('notes')).toEqual([
        { route: 'notes', kind: 'prompt', name: 'read', hash: 'x', pinnedAt: startOfTime + 1 },
        { route: 'notes', ...read, hash: 'one', definition: '{}', pinnedAt: startOfTime },
      ]);
      expect(await definitionPins.list()).toHaveLength(3);
    });

    it('have a change noted once, the latest counts, and what they are is none', async () => {
      const { definitionPins } = await openForTest(open);
      await definitionPins.add('notes', [{ ...read, hash: 'one' }], startOfTime);
      const note = (hash: string, at: number) =>
        definitionPins.noteChange('notes', { ...read, hash, definition: `"${hash}"` }, at);
      expect([
        await note('one', 1),
        await note('two', 2),
        await note('two', 3),
        await note('three', 4),
      ]).toEqual([false, true, false, true]);
      const others = [
        { kind: 'tool', name: 'unknown', hash: 'x' },
        { kind: 'prompt', name: 'read', hash: 'x' },
      ] as const;
      for (const other of others) expect(await definitionPins.noteChange('notes', other, 5)).toBe(false);
      expect((await definitionPins.list('notes'))[0]?.changed).toEqual({
        hash: 'three',
        definition: '"three"',
        at: 4,
      });
    });

    it('are accepted as they were looked at, and in no other form', async () => {
      const { definitionPins } = await openForTest(open);
      await definitionPins.add('notes', [{ ...read, hash: 'one' }], startOfTime);
      await definitionPins.noteChange('notes', { ...read, hash: 'two', definition: '2' }, startOfTime);
      const accept = (hash: string, kind: 'tool' | 'prompt' = 'tool') =>
        definitionPins.accept('notes', { ...read, kind, hash }, 9);
      expect([await accept('three'), await accept('two', 'prompt')]).toEqual([false, false]);
      expect([await accept('two'), await accept('two')]).toEqual([true, false]);
      expect(await definitionPins.list('notes')).toEqual([
        { route: 'notes', ...read, hash: 'two', definition: '2', pinnedAt: 9 },
      ]);
    });

    it('get another hash only in place of the one that was named; the rest stays (T-210)', async () => {
      const { definitionPins } = await openForTest(open);
      await definitionPins.add('notes', [{ ...read, hash: 'earlier' }], startOfTime);
      await definitionPins.noteChange('notes', { ...read, hash: 'changed' }, 3);
      const whole = { ...read, hash: 'whole', definition: '{}' };
      expect(await definitionPins.upgrade('notes', whole, 'another')).toBe(false);
      expect(await definitionPins.upgrade('notes', whole, 'earlier')).toBe(true);
      expect(await definitionPins.list('notes')).toEqual([
        { route: 'notes', ...whole, pinnedAt: startOfTime, changed: { hash: 'changed', at: 3 } },
      ]);
    });

    it('are forgotten by name, by kind, or all of a route', async () => {
      const { definitionPins } = await openForTest(open);
      const tools = ['a', 'b', 'c'].map((name) => ({ kind: 'tool', name, hash: name }) as const);
      await definitionPins.add('notes', [...tools, { kind: 'prompt', name: 'b', hash: 'b' }], startOfTime);
      await definitionPins.add('files', tools, startOfTime);
      expect([
        await definitionPins.forget('notes', { name: 'a' }),
        await definitionPins.forget('notes', { kind: 'prompt' }),
        await definitionPins.forget('notes', { name: 'b', kind: 'prompt' }),
        await definitionPins.forget('notes'),
        await definitionPins.forget('x'),
      ]).toEqual([1, 1, 0, 2, 0]);
      expect(await definitionPins.list()).toHaveLength(3);
    });
  });
}
