/**
 * Whether a client may be used: `pending` until an operator approves it, `denied` where one refused it. What is
 * `removed` is remembered for a while where its id could otherwise come back to life, and found by nobody.
 */
export type ClientStatus = 'approved' | 'pending' | 'denied' | 'removed';

/** Who made the client: itself at the registration endpoint, the operator by a command, or the operator's settings. */
export type ClientOrigin = 'registered' | 'operator' | 'settings';

/** A client as it is written, its metadata sealed. */
export interface NewClient {
  /** The `client_id`. */
  id: string;
  payload: Uint8Array;
  /** Epoch seconds. */
  createdAt: number;
  /** `approved` where nothing is said. */
  status?: ClientStatus;
  /** `registered` where nothing is said; it stays as it was first. */
  origin?: ClientOrigin;
}

/** A registered client, its metadata sealed. */
export interface ClientRow extends Required<NewClient> {
  /** Epoch seconds of the last grant made or code or refresh token redeemed; absent where it never got a grant. */
  usedAt?: number;
}

/** A client with what hangs on it. */
export interface ListedClient extends ClientRow {
  /** Grants that have not ended. */
  grants: number;
}

/**
 * How long a client without a grant is kept, in seconds: anybody can register one, so what nobody consented to goes
 * soon, and what was used once goes when it was not used for long (T-061).
 */
export const clientLifetimes = {
  /** From registration, where it never got a grant. */
  neverUsedSeconds: 86_400,
  /** From registration, where it waits for the operator's approval. */
  pendingSeconds: 7 * 86_400,
  /** From the last grant made, code or refresh token redeemed, or decision of the operator, where all its grants have ended. */
  afterUseSeconds: 90 * 86_400,
} as const;

/** How many registered clients are kept that nobody ever consented to; beyond it the oldest ones go (T-061). */
export const maxUnusedClients = 10_000;

/** Steps of a commit that concern clients; see `ArtifactStore.commit`. */
export type ClientChange =
  /**
   * Keeps a client, new or changed. A new one makes room for itself: beyond `maxUnused`, others go that nobody used,
   * decided about or is just logging in to, oldest first; up to a hundredth of `maxUnused` more than need be.
   */
  | { type: 'putClient'; client: NewClient; maxUnused: number }
  /** Keeps a client that its first consent makes; leaves one that is there as it is. Refused where it was removed. */
  | { type: 'keepClient'; client: NewClient }
  /** Removes a client, its grants and open interactions. */
  | { type: 'removeClient'; id: string }
  /** Ends the grants and the open interactions of a client. */
  | { type: 'endClient'; id: string }
  /** Gives a client another token to manage its registration with; the one before is worth nothing then. */
  | { type: 'setRegistrationToken'; clientId: string; hash: string }
  /** Changes nothing; refused unless this is the token of the client now (T-064). */
  | { type: 'requireRegistrationToken'; clientId: string; hash: string }
  /** Notes that a client was used, to the day: most uses need not be written. */
  | { type: 'useClient'; clientId: string; at: number }
  /** Uses an invitation once; refused where it is used up, has expired or never was (T-065). */
  | { type: 'useInvitation'; id: string; at: number };

/**
 * Registered clients. Removing one ends its grants and tokens in the same commit. The sweep removes those that
 * outlived `clientLifetimes`, unless a grant or an open interaction hangs on them; they are then as unknown as others.
 */
export interface ClientStore {
  /** Keeps a client, new or changed. */
  put(client: NewClient): Promise<void>;
  /** Keeps a new client; false where there is one with this id, which stays as it is. */
  add(client: NewClient): Promise<boolean>;
  /** Gives a client; undefined where there is none, or it was removed. */
  find(id: string): Promise<ClientRow | undefined>;
  /** Gives the client that manages its registration with the token of this hash. */
  findByToken(hash: string): Promise<ClientRow | undefined>;
  /** Says whether it was removed, and is remembered. */
  wasRemoved(id: string): Promise<boolean>;
  /** Gives all clients, oldest first. */
  list(): Promise<ListedClient[]>;
  /** Gives the clients that the operator made, in either way. */
  listOfOperator(): Promise<ClientRow[]>;
  /**
   * Makes these the clients of the settings. What was one and is none any more is removed with what was issued to it; so is
   * what was issued to a client of another origin that had one of these ids.
   * @returns the ids of those that were removed
   */
  replaceSettings(clients: readonly Pick<ClientRow, 'id' | 'payload' | 'createdAt'>[]): Promise<string[]>;
  /**
   * Writes down the operator's decision about a client; a denied one loses its grants and open interactions. False
   * where there is no such client.
   * @param at epoch seconds
   */
  decide(id: string, status: 'approved' | 'denied', at: number): Promise<boolean>;
  /**
   * Removes the client, or the client document kept under this id, and what was issued to it; false where there was
   * nothing of all that.
   * @param rememberAt epoch seconds: remembers the id from then on, for `clientLifetimes.neverUsedSeconds`; for ids that
   *   are their own registration and would come back
   */
  remove(id: string, rememberAt?: number): Promise<boolean>;
}
