import { randomUUID } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/server';
import type { InFlightMap } from '../../collections/in-flight-map.ts';
import type { JsonRpcError, Message, RequestMessage } from '../protocol.ts';
import type { RequestSummary } from './serializable.ts';

/** A JSON-RPC message that may be a response. */
export interface ResponseMessage extends Message {
  result?: unknown;
  error?: JsonRpcError;
}

/** One conversation, as the transport to its server sees it. */
export interface Participant {
  /** Session id that the server's SDK sees. Tools and tasks distinguish conversations by it. */
  readonly sessionId: string;
  /** Its unanswered calls, by their ids at the server. */
  readonly calls: InFlightMap<number, PendingCall>;
  /**
   * Takes a message of the server, with the ids the client knows.
   * @param relatedTo id of the client's request during which it was sent, if that is known
   */
  hear(message: Message, relatedTo?: RequestId): void;
  /** Returns an error if the client cannot be sent the request. */
  checkRequest(request: RequestMessage): JsonRpcError | undefined;
}

/** A message on its way through a server: a request without a response, or a notification. */
export interface PendingCall {
  /** Absent for requests of Gatehouse itself. */
  readonly participant: Participant | undefined;
  /** The id the client chose. Absent on notifications. */
  readonly id: RequestId | undefined;
  /** The progress token the client chose. */
  readonly progressToken: unknown;
  /** Takes the response, with the id of the client, before the participant does. */
  readonly onAnswer: ((answer: ResponseMessage) => void) | undefined;
  /** Account and client of the sender; absent on notifications, and if nobody is known. */
  readonly principal: string | undefined;
  /**
   * Description for the log: the request itself, which may be large, belongs to the server. Absent on notifications.
   */
  readonly asked: RequestSummary | undefined;
  /** Id and progress token at the server. */
  serverId: number;
  /** True if messages that the server sends for it may still go to the client. */
  isRunning: boolean;
}

/** A request of a server that a client has not answered. */
interface OpenRequest {
  readonly participant: Participant;
  /** The id the server chose; servers count from 0. */
  readonly serverId: RequestId;
  readonly uniqueId: string;
  readonly progressToken: unknown;
}

/**
 * The requests of one server that no client has answered yet. Clients see ids that are unique in the installation, and
 * a response counts only in the conversation of its request (T-128).
 */
export class ServerRequests {
  readonly #byUniqueId = new Map<unknown, OpenRequest>();
  readonly #byServerId = new Map<unknown, OpenRequest>();

  /** Number of waiting requests. */
  get size(): number {
    return this.#byUniqueId.size;
  }

  /** Returns the participants that have not answered, in the order of the requests. */
  participants(): Participant[] {
    return [...this.#byUniqueId.values()].map(({ participant }) => participant);
  }

  /** Stores a request of the server, and returns it in the form for the client. */
  ask(participant: Participant, request: RequestMessage): RequestMessage {
    const { _meta: meta } = request.params ?? {};
    const asked = {
      participant,
      serverId: request.id,
      uniqueId: uniqueId(),
      progressToken: (meta as { progressToken?: unknown } | undefined)?.progressToken,
    };
    this.#byUniqueId.set(asked.uniqueId, asked);
    this.#byServerId.set(asked.serverId, asked);
    if (asked.progressToken === undefined) return { ...request, id: asked.uniqueId };
    const params = { ...request.params, _meta: { ...(meta as object), progressToken: asked.uniqueId } };
    return { ...request, id: asked.uniqueId, params };
  }

  /** Returns the response of a client in the form for the server; undefined if nobody waits for it. */
  answer(participant: Participant, answer: Message): Message | undefined {
    const asked = this.#find(participant, answer.id);
    if (!asked) return undefined;
    this.#forget(asked);
    return { ...answer, id: asked.serverId };
  }

  /** Returns a client's `notifications/progress` in the form for the server; undefined if nothing runs. */
  progress(participant: Participant, progress: Message): Message | undefined {
    const asked = this.#find(participant, progress.params?.progressToken);
    if (asked?.progressToken === undefined) return undefined;
    return { ...progress, params: { ...progress.params, progressToken: asked.progressToken } };
  }

  /** Removes a request that the server cancels. @returns its participant, and the notification for it */
  cancel(cancelled: Message): { participant: Participant; message: Message } | undefined {
    const asked = this.#byServerId.get(cancelled.params?.requestId);
    if (!asked) return undefined;
    this.#forget(asked);
    const params = { ...cancelled.params, requestId: asked.uniqueId };
    return { participant: asked.participant, message: { ...cancelled, params } };
  }

  /** Removes all requests to a participant. @returns the ids that the server chose */
  forgetAll(participant: Participant): RequestId[] {
    const own = [...this.#byUniqueId.values()].filter((asked) => asked.participant === participant);
    for (const asked of own) this.#forget(asked);
    return own.map(({ serverId }) => serverId);
  }

  #find(participant: Participant, id: unknown): OpenRequest | undefined {
    const asked = this.#byUniqueId.get(id);
    return asked?.participant === participant ? asked : undefined;
  }

  #forget(asked: OpenRequest): void {
    this.#byUniqueId.delete(asked.uniqueId);
    if (this.#byServerId.get(asked.serverId) === asked) this.#byServerId.delete(asked.serverId);
  }
}

const process = randomUUID();
let count = 0;

/**
 * Returns an id that no other process of the installation returns, before or after a restart, so that an old id of a
 * client never names a new request (T-128). It is not a secret.
 */
export function uniqueId(): string {
  count++;
  return `${process}-${count.toString(36)}`;
}
