/** A process that serves the installation beside others. */
export interface NodeRow {
  /** Random id, new at each start. */
  id: string;
  /** `host:port` at which other nodes reach it; without a port, the name of the machine of a server that serves alone. */
  address: string;
  version: string;
  /** Epoch seconds. */
  startedAt: number;
  /** Keyed digest of the settings that all nodes should have alike. */
  settingsHash: string;
  /** True if it runs with earlier settings, because it could not use its config file at the last reload. */
  refusesFile: boolean;
}

/** A node that is alive, or was within the last day, for its operator. */
export interface ListedNode extends NodeRow {
  isAlive: boolean;
  /** Number of MCP sessions that it serves. */
  sessions: number;
}

/**
 * Time for which a node counts as alive after its last beat, in seconds, by the clock of the database. Afterwards others
 * take over its sessions.
 */
export const leaseSeconds = 5;

/** Time after the last beat of a node until its row is removed, in seconds. */
export const deadNodeSeconds = 86_400;

/** The nodes of an installation, and the MCP sessions that each of them serves. */
export interface NodeStore {
  /**
   * Renews the lease of a node, with its present settings. If the lease has ended, others may have taken its sessions: a new
   * lease begins, and its remaining sessions are released. A server without a port renews also a lease that has ended, unless
   * another server has begun one since.
   * @returns false if a new lease has begun
   * @throws AnotherServer if a lease cannot begin beside that of another server. On SQLite, the lock of servers refuses it
   */
  beat(node: NodeRow): Promise<boolean>;
  /** Removes a node and releases its sessions. */
  leave(id: string): Promise<void>;
  /** Returns the nodes that are alive and have a port, the oldest first. */
  list(): Promise<NodeRow[]>;
  /** Returns the nodes of the last day that have a port and have not left, with their sessions; the oldest first. */
  listAll(): Promise<ListedNode[]>;
  /**
   * Takes a session for a node, unless another one that is alive has it: of several concurrent takers one succeeds.
   * @returns `missing` if there is no such session
   */
  claimSession(key: string, id: string): Promise<'claimed' | 'taken' | 'missing'>;
  /** Lets go of sessions of a node; others stay as they are. */
  releaseSessions(keys: readonly string[], id: string): Promise<void>;
  /** Returns the node that has a session and is alive. */
  ownerOf(key: string): Promise<NodeRow | undefined>;
}

/** Time for which messages of nodes are stored at least, in seconds. */
export const messageSeconds = 60;

/** Messages of other nodes behind a position. */
export interface ReadMessages {
  /** In the order of their commits; `ageMs` is the time since they were written, by the clock of the database. */
  messages: { payload: Uint8Array; ageMs: number }[];
  /** Position of the last message that was read, or that this node itself wrote. */
  position: number;
  /** True if no message is behind `position`. */
  isEnd: boolean;
  /** False if messages were removed unread, or the database is in an earlier state. */
  isComplete: boolean;
}

/**
 * Messages that nodes write for all others. Positions are in the order of commits: a message that is committed later has
 * a higher position.
 */
export interface NodeMessageStore {
  /** Stores a message of a node. */
  post(nodeId: string, payload: Uint8Array): Promise<void>;
  /** Returns the position of the newest message; 0 if there was none. */
  lastPosition(): Promise<number>;
  /**
   * Returns a number that changes with each new message. PostgreSQL is not asked.
   * @throws StorageUnavailable if the database has not answered for seconds
   */
  mark(): number;
  /** Reads messages behind a position, a limited number at once. @param nodeId a node whose own messages are left out */
  read(position: number, nodeId: string): Promise<ReadMessages>;
}

/** Maximum number of messages that are read at once. */
export const messageBatchSize = 200;
