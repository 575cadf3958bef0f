import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { Note, NoteStore } from '../notes.ts';
import type { Writer } from './writer.ts';

/** The notes of a SQLite database. */
export function createNoteStore(db: Database.Database, writer: Writer): NoteStore {
  const columns = 'id, text, created_at AS createdAt';
  const newestFirst = 'ORDER BY created_at DESC, id LIMIT ?';
  const add = db.prepare('INSERT INTO notes (id, account_id, text, created_at) VALUES (?, ?, ?, ?)');
  const get = db.prepare<[string, string], Note>(
    `SELECT ${columns} FROM notes WHERE account_id = ? AND id = ?`,
  );
  const list = db.prepare<[string, number], Note>(
    `SELECT ${columns} FROM notes WHERE account_id = ? ${newestFirst}`,
  );
  const search = db.prepare<[string, string, number], Note>(
    `SELECT ${columns} FROM notes WHERE account_id = ? AND instr(lower(text), lower(?)) > 0 ${newestFirst}`,
  );
  const remove = db.prepare('DELETE FROM notes WHERE account_id = ? AND id = ?');

  return {
    add: (accountId, text, nowSeconds) =>
      writer.write(() => {
        const note = { id: randomUUID(), text, createdAt: nowSeconds };
        add.run(note.id, accountId, text, nowSeconds);
        return note;
      }),
    get: async (accountId, noteId) => get.get(accountId, noteId),
    list: async (accountId, limit) => list.all(accountId, limit),
    search: async (accountId, text, limit) => search.all(accountId, text, limit),
    remove: (accountId, noteId) => writer.write(() => remove.run(accountId, noteId).changes === 1),
  };
}
