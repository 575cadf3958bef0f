/** A registered client, its metadata sealed. */
export interface ClientRow {
  /** The `client_id`. */
  id: string;
  payload: Uint8Array;
  /** Epoch seconds. */
  createdAt: number;
}

/** Registered clients. Removing one ends its grants and tokens in the same commit. */
export interface ClientStore {
  /** Keeps a client, new or changed. */
  put(client: ClientRow): Promise<void>;
  find(id: string): Promise<ClientRow | undefined>;
  /** Gives all clients, oldest first. */
  list(): Promise<ClientRow[]>;
  /** Removes the client and what was issued to it; false where there is no such client. */
  remove(id: string): Promise<boolean>;
}
