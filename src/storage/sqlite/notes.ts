import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { Note, NoteStore } from '../notes.ts';
import type { Writer } from './writer.ts';

/** The notes of a SQLite database. */
export function createNoteStore(db: Database.Database, writer: Writer): NoteStore {
  const columns = 'id, text, created_at AS createdAt';
  const newestFirst = 'ORDER BY created_at DESC, id LIMIT ?';
  const add = db.prepare('INSERT INTO notes (id, subject, text, created_at) VALUES (?, ?, ?, ?)');
  const get = db.prepare<[string, string], Note>(`SELECT ${columns} FROM notes WHERE subject = ? AND id = ?`);
  const list = db.prepare<[string, number], Note>(
    `SELECT ${columns} FROM notes WHERE subject = ? ${newestFirst}`,
  );
  const search = db.prepare<[string, string, number], Note>(
    `SELECT ${columns} FROM notes WHERE subject = ? AND instr(lower(text), lower(?)) > 0 ${newestFirst}`,
  );
  const remove = db.prepare('DELETE FROM notes WHERE subject = ? AND id = ?');

  return {
    add: (subject, text, nowSeconds) =>
      writer.write(() => {
        const note = { id: randomUUID(), text, createdAt: nowSeconds };
        add.run(note.id, subject, text, nowSeconds);
        return note;
      }),
    get: async (subject, noteId) => get.get(subject, noteId),
    list: async (subject, limit) => list.all(subject, limit),
    search: async (subject, text, limit) => search.all(subject, text, limit),
    remove: (subject, noteId) => writer.write(() => remove.run(subject, noteId).changes === 1),
  };
}
