import type { RequestId } from '@modelcontextprotocol/server';
import type { InFlightMap } from '../../collections/in-flight-map.ts';
import type { JsonRpcError } from '../protocol.ts';
import type { Message, RequestMessage } from '../reading/frames.ts';
import type { Asked } from './serializable.ts';

/** A JSON-RPC response: an answer to a request of the other side. */
export interface Answer extends Message {
  result?: unknown;
  error?: JsonRpcError;
}

/** One conversation, as the line to a server sees it. */
export interface Party {
  /** Session id that the server's SDK sees: tools and tasks tell conversations apart by it. */
  readonly sessionId: string;
  /** Its calls the server has not answered, by their ids at the server. */
  readonly calls: InFlightMap<number, Call>;
  /**
   * Takes a message of the server, with the ids the client knows.
   * @param relatedTo id of the client's request during which it was sent, if that is known
   */
  hear(message: Message, relatedTo?: RequestId): void;
  /** Returns the error for a request that the client cannot be sent. */
  checkRequest(request: RequestMessage): JsonRpcError | undefined;
}

/** A message on its way through a server: a request that waits for its answer, or a notification. */
export interface Call {
  /** Absent for what the front itself asks the server. */
  readonly party: Party | undefined;
  /** The id the client chose. Absent on notifications. */
  readonly id: RequestId | undefined;
  /** The progress token the client chose. */
  readonly progressToken: unknown;
  /** Takes the answer before the party does; its id is the client's. */
  readonly onAnswer: ((answer: Answer) => void) | undefined;
  /** Account and client of the sender; absent on notifications, and if nobody is known. */
  readonly principal: string | undefined;
  /**
   * Description for the log: the request itself, which may be large, belongs to the server. Absent on notifications.
   */
  readonly asked: Asked | undefined;
  /** Id and progress token at the server. */
  lineId: number;
  /** True if what the server sends because of it may still go to the client. */
  isRunning: boolean;
}
