/** A stream of server-sent events to one client. Kept alive, and cut off when the client takes nothing (T-143). */
export interface EventStream {
  readonly isOpen: boolean;
  /**
   * Sends one event. Does nothing once the stream is closed.
   * @param data JSON, so that no line break of it can begin another field (T-139); empty for a priming event
   * @param id event id
   * @param event name of the event; `message` by default
   * @param instead data that is sent if there is no room for the other; without it, the client is cut off then
   */
  send(data: string, id?: string, event?: string, instead?: string): void;
  /**
   * Counts a message until it is sent (`limits.heldBytes`).
   * @returns ends that, to be called before the message is sent; undefined if there is no room for the message
   */
  park(message: unknown): (() => void) | undefined;
  /** Sets the client's reconnection time, in milliseconds. */
  retry(milliseconds: number): void;
  /** Ends it after what was sent. */
  end(): void;
  /** Calls back once, when the stream was ended or the client is gone; at once if that is so already. */
  onClose(callback: () => void): void;
}

/** The HTTP answer to one request. The first call decides what it is; a second one throws. */
export interface Reply {
  /** True if an answer was begun. */
  readonly isBegun: boolean;
  /** True if the client is gone, or was answered in full. */
  readonly isClosed: boolean;
  /** As of a stream: counts a message until others are there, with which it is sent. */
  park(message: unknown): (() => void) | undefined;
  /** Answers with JSON. */
  json(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Answers without a body. */
  empty(status: number, headers?: Readonly<Record<string, string>>): void;
  /** Answers with a stream, its headers and a comment at once. */
  stream(headers?: Readonly<Record<string, string>>): EventStream;
  /** Calls back once, when the answer is out or the client is gone; at once if that is so already. */
  onClose(callback: () => void): void;
}
