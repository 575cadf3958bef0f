import type { IncomingMessage, ServerResponse } from 'node:http';

/** Settles which of several processes serves a session from memory. */
export interface SessionOwnership {
  /**
   * Takes a session for this process, before it is restored from the storage or ended.
   * @returns the id of the process that has it, if another one does
   */
  claim(key: string): Promise<string | undefined>;
  /** Notes a session that this process has opened. */
  opened(key: string): void;
  /** Lets go of a session: any process may take it then. */
  release(key: string): void;
  /** Returns whether this process may serve a session at this moment. */
  holds(key: string): boolean;
  /**
   * Asks the process that has a session to end it, unless it is in use there.
   * @returns false also if that process cannot be asked
   */
  endIdle(key: string, processId: string): Promise<boolean>;
  /**
   * Registers what ends a session of this process for another one, unless it is in use.
   * @returns removes it
   */
  onEndIdle(endIdle: (key: string) => Promise<boolean>): () => void;
  /**
   * Registers a callback for the loss of all sessions: this process was cut off for so long that others may have them.
   * @returns removes it
   */
  onLost(callback: () => void): () => void;
}

/** The lease of a process without peers. Once it has ended, another process may serve the installation. */
export interface SessionLease extends Pick<SessionOwnership, 'onLost'> {
  /** Returns whether this process may serve sessions now. */
  isCurrent(): boolean;
}

/** The other processes that serve the installation. */
export interface Peers {
  /** Id of this process among them; new at each start. */
  readonly id: string;
  readonly sessions: SessionOwnership;
  /** Returns whether another process, by its id, serves the installation. @throws if nobody can say */
  isAlive(id: string): Promise<boolean>;
  /**
   * Has another process answer a request whose caller is known here, once at most. If that process cannot be reached,
   * the response is 503.
   * @param body of the request, if it was read already
   */
  forward(
    id: string,
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer | undefined,
  ): Promise<void>;
  /** Returns whether another process has counted a request, and has forwarded it here then. */
  hasCounted(request: IncomingMessage): boolean;
}

/** Another process serves what the request is about. */
export class ServedElsewhere extends Error {
  override name = 'ServedElsewhere';
  /** See `Peers.id`. */
  readonly processId: string;

  constructor(processId: string) {
    super('Another process has to answer the request.');
    this.processId = processId;
  }
}
