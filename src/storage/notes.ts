/** A note of the server that ships. */
export interface Note {
  /** Opaque id, unique over all accounts. */
  id: string;
  text: string;
  /** Epoch seconds. */
  createdAt: number;
}

/**
 * Notes, each owned by one account. Every operation names the account, and none reaches another's notes:
 * an id of somebody else's note is an unknown id.
 */
export interface NoteStore {
  /** Keeps a new note and gives it back; resolves once it is durable. */
  add(accountId: string, text: string, nowSeconds: number): Promise<Note>;
  /** Gives one note, or undefined where this account has none of that id. */
  get(accountId: string, noteId: string): Promise<Note | undefined>;
  /** Gives the account's notes, newest first, at most `limit`. */
  list(accountId: string, limit: number): Promise<Note[]>;
  /** Gives the notes that hold `text` anywhere, ignoring ASCII case, newest first, at most `limit`. */
  search(accountId: string, text: string, limit: number): Promise<Note[]>;
  /** Removes a note; false where this account has none of that id. */
  remove(accountId: string, noteId: string): Promise<boolean>;
}
