/** A registered client, its metadata sealed. */
export interface ClientRow {
  /** The `client_id`. */
  id: string;
  payload: Uint8Array;
  /** Epoch seconds. */
  createdAt: number;
}

/**
 * How long a client without a grant is kept, in seconds: anybody can register one, so what nobody consented to goes
 * soon, and what was used once goes when it was not used for long (T-061).
 */
export const clientLifetimes = {
  /** From registration, where it never got a grant. */
  neverUsedSeconds: 86_400,
  /** From the last grant made or code or refresh token redeemed, where all its grants have ended. */
  afterUseSeconds: 90 * 86_400,
} as const;

/**
 * Registered clients. Removing one ends its grants and tokens in the same commit. The sweep removes those that
 * outlived `clientLifetimes`, unless a grant or an open interaction hangs on them; they are then as unknown as others.
 */
export interface ClientStore {
  /** Keeps a client, new or changed. */
  put(client: ClientRow): Promise<void>;
  find(id: string): Promise<ClientRow | undefined>;
  /** Gives all clients, oldest first. */
  list(): Promise<ClientRow[]>;
  /**
   * Removes the client, or the client document kept under this id, and what was issued to it; false where there was
   * nothing of all that.
   */
  remove(id: string): Promise<boolean>;
}
