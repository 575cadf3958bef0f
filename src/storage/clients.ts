/**
 * Approval status of a client: `pending` until an operator decides, `denied` after a refusal. A `removed` client is
 * invisible, and remembered for a while if its id could otherwise register itself again.
 */
export type ClientStatus = 'approved' | 'pending' | 'denied' | 'removed';

/** Creator of the client: itself at the registration endpoint, the operator by a command, or the settings. */
export type ClientOrigin = 'registered' | 'operator' | 'settings';

/** A client to be stored, its metadata sealed. */
export interface NewClient {
  /** The `client_id`. */
  id: string;
  payload: Uint8Array;
  /** Epoch seconds. */
  createdAt: number;
  /** Defaults to `approved`. */
  status?: ClientStatus;
  /** Defaults to `registered`; never changes after the first write. */
  origin?: ClientOrigin;
}

/** A registered client, its metadata sealed. */
export interface ClientRow extends Required<NewClient> {
  /** Epoch seconds of the last grant, code redemption or refresh; absent if the client never got a grant. */
  usedAt?: number;
}

/** A client with the number of its grants. */
export interface ListedClient extends ClientRow {
  /** Number of active grants. */
  grants: number;
}

/**
 * Retention of clients without a grant, in seconds. Anyone can register a client, so one without consent is removed
 * soon, and one that was used is removed after a long time without use (T-061).
 */
export const clientLifetimes = {
  /** From registration, if the client never got a grant. */
  neverUsedSeconds: 86_400,
  /** From registration, if the client waits for approval. */
  pendingSeconds: 7 * 86_400,
  /** From the last grant, code redemption, refresh or operator decision, once all its grants have ended. */
  afterUseSeconds: 90 * 86_400,
} as const;

/** Maximum number of registered clients without any consent; the oldest ones are removed beyond it (T-061). */
export const maxUnusedClients = 10_000;

/** Steps of a commit that concern clients; see `ArtifactStore.commit`. */
export type ClientChange =
  /**
   * Stores a client. A new client beyond `maxUnused` evicts the oldest clients that are unused, undecided and not in a
   * login; up to a hundredth of `maxUnused` more than necessary are evicted at once.
   */
  | { type: 'putClient'; client: NewClient; maxUnused: number }
  /** Stores a client at its first consent if it is new. Rejected if the client was removed. */
  | { type: 'keepClient'; client: NewClient }
  /** Removes a client, its grants and open interactions. */
  | { type: 'removeClient'; id: string }
  /** Removes the grants and open interactions of a client. */
  | { type: 'endClient'; id: string }
  /** Replaces the registration access token of a client. */
  | { type: 'setRegistrationToken'; clientId: string; hash: string }
  /** Writes nothing; rejected unless this is the client's present registration access token (T-064). */
  | { type: 'requireRegistrationToken'; clientId: string; hash: string }
  /** Records a use of the client, to the day: most uses need no write. */
  | { type: 'useClient'; clientId: string; at: number }
  /** Consumes one use of an invitation; rejected if it is unknown, used up or expired (T-065). */
  | { type: 'useInvitation'; id: string; at: number };

/**
 * Registered clients. Removing a client ends its grants and tokens in the same commit. The sweep removes clients that
 * outlived `clientLifetimes`, unless a grant or an open interaction refers to them.
 */
export interface ClientStore {
  /** Inserts or updates a client. */
  put(client: NewClient): Promise<void>;
  /**
   * Inserts a client.
   * @returns false if there is one with this id
   */
  add(client: NewClient): Promise<boolean>;
  /** Returns a client; undefined if it is unknown or removed. */
  find(id: string): Promise<ClientRow | undefined>;
  /** Returns the client with this registration access token, by its hash. */
  findByToken(hash: string): Promise<ClientRow | undefined>;
  /** Returns true if the client was removed and is still remembered. */
  wasRemoved(id: string): Promise<boolean>;
  /** Returns all clients, oldest first. */
  list(): Promise<ListedClient[]>;
  /** Returns the clients created by the operator, by command or settings. */
  listOfOperator(): Promise<ClientRow[]>;
  /**
   * Replaces the clients of the settings. Clients no longer among them are removed with everything issued to them; a
   * client of another origin with one of these ids loses everything issued to it.
   * @returns the ids of the removed clients
   */
  replaceSettings(clients: readonly Pick<ClientRow, 'id' | 'payload' | 'createdAt'>[]): Promise<string[]>;
  /**
   * Records the operator's decision about a client; a denied client loses its grants and open interactions.
   * @param at epoch seconds
   * @returns false if there is no such client
   */
  decide(id: string, status: 'approved' | 'denied', at: number): Promise<boolean>;
  /**
   * Removes the client or client document with this id and everything issued to it.
   * @param rememberAt epoch seconds: remembers the removed id for `clientLifetimes.neverUsedSeconds` from then on; for
   * ids that could register themselves again
   * @returns false if there was nothing to remove
   */
  remove(id: string, rememberAt?: number): Promise<boolean>;
}

/** A client ID metadata document as last fetched, sealed. */
export interface ClientDocumentRow {
  /** Its URL, which is the `client_id`. */
  url: string;
  payload: Uint8Array;
  /** Epoch seconds. */
  fetchedAt: number;
  /** Time until which it need not be fetched again, epoch seconds. */
  freshUntil: number;
}

/** A document with the number of its client's grants. */
export interface ListedDocument extends ClientDocumentRow {
  /** Number of active grants. */
  grants: number;
  /** Epoch seconds of the last use of a grant; absent if there is none. */
  usedAt?: number;
}

/** Retention of a document after its last fetch, in seconds; it is fresh for a much shorter time. */
export const documentRetentionSeconds = 30 * 86_400;

/**
 * Fetched client documents: a cache shared by all processes of an installation that survives restarts. The sweep
 * removes documents older than `documentRetentionSeconds`.
 */
export interface ClientDocumentStore {
  find(url: string): Promise<ClientDocumentRow | undefined>;
  /** Returns all documents, the oldest fetch first. */
  list(): Promise<ListedDocument[]>;
  /**
   * Inserts or updates a document. Beyond `maxDocuments` others are evicted: first those without a grant, then the
   * oldest fetch.
   */
  put(document: ClientDocumentRow, maxDocuments: number): Promise<void>;
  /** Removes a document; no effect if there is none. */
  remove(url: string): Promise<void>;
}

/**
 * Permission to register clients, created by the operator: an initial access token (RFC 7591 section 3), stored as its
 * hash.
 */
export interface Invitation {
  /** Hashed token. */
  id: string;
  /** Number of clients that may still be registered with it. */
  usesLeft: number;
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds. */
  expiresAt: number;
}

/** Invitations. A commit consumes them by `useInvitation`; the sweep removes expired ones. */
export interface InvitationStore {
  add(invitation: Invitation): Promise<void>;
  /** Returns an invitation, used up and expired or not; undefined if there is none. */
  find(id: string): Promise<Invitation | undefined>;
}
