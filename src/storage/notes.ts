/** A note of the server that ships. */
export interface Note {
  /** Opaque id, unique over all subjects. */
  id: string;
  text: string;
  /** Epoch seconds. */
  createdAt: number;
}

/**
 * Notes, each owned by one subject: an account, or a client that acts for itself. They go with their owner. Every
 * operation names the subject, and none reaches another's notes: an id of somebody else's note is an unknown id.
 */
export interface NoteStore {
  /** Keeps a new note and gives it back; resolves once it is durable, rejects where the subject is gone. */
  add(subject: string, text: string, nowSeconds: number): Promise<Note>;
  /** Gives one note, or undefined where this subject has none of that id. */
  get(subject: string, noteId: string): Promise<Note | undefined>;
  /** Gives the subject's notes, newest first, at most `limit`. */
  list(subject: string, limit: number): Promise<Note[]>;
  /** Gives the notes that hold `text` anywhere, ignoring ASCII case, newest first, at most `limit`. */
  search(subject: string, text: string, limit: number): Promise<Note[]>;
  /** Removes a note; false where this subject has none of that id. */
  remove(subject: string, noteId: string): Promise<boolean>;
}
