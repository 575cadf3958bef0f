import { randomUUID } from 'node:crypto';
import type { Note, NoteStore } from '../../../src/storage/storage.ts';

/** Notes in memory. */
export function createMemoryNotes(): NoteStore {
  const owned: { accountId: string; note: Note }[] = [];
  const of = (accountId: string): Note[] =>
    owned.filter((entry) => entry.accountId === accountId).map(({ note }) => note);
  return {
    async add(accountId, text, nowSeconds) {
      const note = { id: randomUUID(), text, createdAt: nowSeconds };
      owned.unshift({ accountId, note });
      return note;
    },
    get: async (accountId, noteId) => of(accountId).find(({ id }) => id === noteId),
    list: async (accountId, limit) => of(accountId).slice(0, limit),
    search: async (accountId, text, limit) =>
      of(accountId)
        .filter((note) => note.text.toLowerCase().includes(text.toLowerCase()))
        .slice(0, limit),
    async remove(accountId, noteId) {
      const at = owned.findIndex((entry) => entry.accountId === accountId && entry.note.id === noteId);
      if (at >= 0) owned.splice(at, 1);
      return at >= 0;
    },
  };
}
