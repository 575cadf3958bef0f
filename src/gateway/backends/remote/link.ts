import type { RequestId } from '@modelcontextprotocol/server';
import type { FairQueue } from '../../../collections/fair-queue.ts';
import type { HeldBytes } from '../../../mcp/building-blocks.ts';
import type { Message, RequestMessage } from '../../../mcp/protocol.ts';
import type { WriteBatcher } from '../../../net/write-batcher.ts';
import type { Credentials } from '../../credentials/credentials.ts';
import type { FullLimit } from '../backend-errors.ts';
import type { Wire } from './wire.ts';
import type { WireFailure } from './wire-answer.ts';

/** Protocol of a server reached by URL. */
export type LinkKind = 'http' | 'sse' | 'rest';

/** Reason why a request gets no response. */
export interface LinkFailure extends WireFailure {
  /** HTTP status, if there is one. */
  status?: number;
  /** True if the server may be one of another transport: it did not know what was asked of it. */
  mayBeOther?: boolean;
  /** The reached limit, if it is `backend_busy`. */
  full?: FullLimit;
}

/** Takes what comes over a link. */
export interface LinkListener {
  /**
   * Takes a message of the server.
   * @param relatedTo id of the request with whose answer it came
   */
  hear(message: Message, relatedTo?: RequestId): void;
  /** A request gets no answer any more. */
  failed(id: RequestId, failure: LinkFailure): void;
  /**
   * The server has forgotten the session, or the connection that was it has ended.
   * @param unsent what it did not take because of that
   */
  lost(link: Link, unsent: readonly Message[]): void;
}

/** One session at a server that is reached by URL, however it is spoken to. */
export interface Link {
  readonly kind: LinkKind;
  /** True if the server keeps a session for it, which it may forget. */
  readonly hasSession: boolean;
  /** True if an answer may still come over it. */
  readonly isBusy: boolean;
  /** Begins the session. The answer comes to the listener, as to any request. */
  open(initialize: RequestMessage): void;
  /** Sends a message: a request, a notification, or an answer to a request of the server. */
  send(message: Message): void;
  /** From now on the server is told this on behalf of the caller. */
  use(credentials: Credentials): void;
  /** Nobody waits for the answer to a request any more. */
  drop(id: RequestId): void;
  /** Ends the session, and tells the server if it can be told. The listener hears nothing more. */
  close(): Promise<void>;
}

/** Parts of the every link to a backend. */
export interface LinkParts {
  wire: Wire;
  url: URL;
  /** Headers of every request to the backend, names and values in turn. */
  headers: readonly string[];
  /** Initial headers on behalf of the caller. */
  credentials: Credentials;
  /** Owner of its calls. */
  account: string;
  /** Requests under way. */
  lanes: FairQueue;
  /** Sends requests; the bytes of several leave together. */
  sendTogether: WriteBatcher;
  /** Streams of sessions. */
  streams: FairQueue;
  /** Most messages that may wait for the beginning of a session. */
  maxHeld: number;
  /** Longest answer, and longest event of a stream, in bytes. */
  maxAnswerBytes: number;
  /** Most values in an answer or event. */
  maxAnswerValues: number;
  /** Counts the bytes of answers while they are read. */
  held: HeldBytes;
  /** Takes note of something that failed and that nobody waits for. */
  noteFailure(failure: LinkFailure): void;
  /** Takes note of an event that is no message. */
  noteUnreadable(bytes: number): void;
}
