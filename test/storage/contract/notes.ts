import { describe, expect, it } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import { account, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

async function withNotes(open: OpenStorage): Promise<Storage> {
  const storage = await openForTest(open);
  for (const id of ['ada', 'grace']) await storage.accounts.add(account(id));
  return storage;
}

/** What every store of notes does. */
export function describeNotes(open: OpenStorage): void {
  describe('notes', () => {
    it('are kept with an id and the given time, and found again', async () => {
      const { notes } = await withNotes(open);
      const text = "Ünïcode, \u0000, 'quotes' and\nlines 🗝";
      const note = await notes.add('ada', text, startOfTime);
      expect(note).toEqual({ id: expect.stringMatching(/^\S{16,}$/), text, createdAt: startOfTime });
      expect(await notes.get('ada', note.id)).toEqual(note);
    });

    it('of another account are unknown, in every operation (T-130)', async () => {
      const { notes } = await withNotes(open);
      const { id } = await notes.add('ada', 'secret plan', startOfTime);
      expect(await notes.get('grace', id)).toBeUndefined();
      expect(await notes.list('grace', 10)).toEqual([]);
      expect(await notes.search('grace', 'plan', 10)).toEqual([]);
      expect(await notes.remove('grace', id)).toBe(false);
      expect(await notes.get('ada', id)).toBeDefined();
    });

    it('come newest first and not more than asked for', async () => {
      const { notes } = await withNotes(open);
      for (const age of [3, 1, 2]) await notes.add('ada', `note ${age}`, startOfTime - age);
      expect((await notes.list('ada', 2)).map(({ text }) => text)).toEqual(['note 1', 'note 2']);
    });

    it('are found by any part of their text, in any ASCII case, wildcards being letters', async () => {
      const { notes } = await withNotes(open);
      for (const [at, text] of ['Call the 100% Shop', 'call nobody', 'x_y'].entries())
        await notes.add('ada', text, startOfTime - at);
      const found = async (text: string) => (await notes.search('ada', text, 10)).map((note) => note.text);
      expect(await found('CALL')).toEqual(['Call the 100% Shop', 'call nobody']);
      expect(await found('0%')).toEqual(['Call the 100% Shop']);
      expect(await found('_')).toEqual(['x_y']);
      expect(await found("' OR 1=1 --")).toEqual([]);
    });

    it('belong to clients that act for themselves, too, and go with whoever they belong to', async () => {
      const { notes, clients, accounts } = await withNotes(open);
      await clients.put({ id: 'robot', payload: payload('robot'), createdAt: startOfTime });
      await notes.add('robot', 'beep', startOfTime);
      await notes.add('ada', 'hello', startOfTime);
      expect((await notes.list('robot', 10)).map(({ text }) => text)).toEqual(['beep']);
      await clients.remove('robot');
      await accounts.remove('ada');
      expect([await notes.list('robot', 10), await notes.list('ada', 10)]).toEqual([[], []]);
    });

    it('are kept for nobody who is gone', async () => {
      const { notes, accounts } = await withNotes(open);
      await accounts.remove('ada');
      await expect(notes.add('ada', 'late', startOfTime)).rejects.toThrow();
      await accounts.add(account('ada'));
      expect(await notes.list('ada', 10)).toEqual([]);
    });

    it('are removed once', async () => {
      const { notes } = await withNotes(open);
      const { id } = await notes.add('ada', 'gone soon', startOfTime);
      expect(await Promise.all([notes.remove('ada', id), notes.remove('ada', id)])).toEqual([true, false]);
      expect(await notes.get('ada', id)).toBeUndefined();
    });
  });
}
