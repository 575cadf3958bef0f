import { describe, expect, it } from 'vitest';
import { type OpenStorage, openForTest, startOfTime } from './subject.ts';

/** What every store of remembered tools does. */
export function describeToolPins(open: OpenStorage): void {
  describe('remembered tools', () => {
    it('stay as they were first seen, each route’s own (T-160)', async () => {
      const { toolPins } = await openForTest(open);
      await toolPins.add('notes', [{ tool: 'read', hash: 'one', definition: '{}' }], startOfTime);
      await toolPins.add(
        'notes',
        [
          { tool: 'read', hash: 'two' },
          { tool: 'add', hash: 'x' },
        ],
        startOfTime + 1,
      );
      await toolPins.add('files', [{ tool: 'read', hash: 'three' }], startOfTime);
      expect(await toolPins.list('notes')).toEqual([
        { route: 'notes', tool: 'add', hash: 'x', pinnedAt: startOfTime + 1 },
        { route: 'notes', tool: 'read', hash: 'one', definition: '{}', pinnedAt: startOfTime },
      ]);
      expect(await toolPins.list()).toHaveLength(3);
    });

    it('have a change noted once, the latest counts, and what they are is none', async () => {
      const { toolPins } = await openForTest(open);
      await toolPins.add('notes', [{ tool: 'read', hash: 'one' }], startOfTime);
      const note = (hash: string, at: number) =>
        toolPins.noteChange('notes', { tool: 'read', hash, definition: `"${hash}"` }, at);
      expect([
        await note('one', 1),
        await note('two', 2),
        await note('two', 3),
        await note('three', 4),
      ]).toEqual([false, true, false, true]);
      expect(await toolPins.noteChange('notes', { tool: 'unknown', hash: 'x' }, 5)).toBe(false);
      expect((await toolPins.list('notes'))[0]?.changed).toEqual({
        hash: 'three',
        definition: '"three"',
        at: 4,
      });
    });

    it('are accepted as they were looked at, and in no other form', async () => {
      const { toolPins } = await openForTest(open);
      await toolPins.add('notes', [{ tool: 'read', hash: 'one' }], startOfTime);
      await toolPins.noteChange('notes', { tool: 'read', hash: 'two', definition: '2' }, startOfTime);
      expect(await toolPins.accept('notes', 'read', 'three', 9)).toBe(false);
      expect(await toolPins.accept('notes', 'read', 'two', 9)).toBe(true);
      expect(await toolPins.accept('notes', 'read', 'two', 9)).toBe(false);
      expect(await toolPins.list('notes')).toEqual([
        { route: 'notes', tool: 'read', hash: 'two', definition: '2', pinnedAt: 9 },
      ]);
    });

    it('are forgotten one by one, or all of a route', async () => {
      const { toolPins } = await openForTest(open);
      const tools = ['a', 'b', 'c'].map((tool) => ({ tool, hash: tool }));
      await toolPins.add('notes', tools, startOfTime);
      await toolPins.add('files', tools, startOfTime);
      expect([
        await toolPins.forget('notes', 'a'),
        await toolPins.forget('notes'),
        await toolPins.forget('x'),
      ]).toEqual([1, 2, 0]);
      expect(await toolPins.list()).toHaveLength(3);
    });
  });
}
