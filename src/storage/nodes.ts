/** A process that serves the installation beside others. */
export interface NodeRow {
  /** Random id, new at each start. */
  id: string;
  /** `host:port` at which other nodes reach it. */
  address: string;
  version: string;
  /** Epoch seconds. */
  startedAt: number;
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
  /** Records that a node is alive. */
  beat(node: NodeRow): Promise<void>;
  /** Removes a node and releases its sessions. */
  leave(id: string): Promise<void>;
  /** Returns the nodes that are alive, the oldest first. */
  list(): Promise<NodeRow[]>;
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
