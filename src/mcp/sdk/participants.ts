import { randomUUID } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/server';
import type { InFlightMap } from '../../collections/in-flight-map.ts';
import type { JsonRpcError, Message, RequestMessage } from '../protocol.ts';
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

/** A request of a server that a client has not answered. */
interface OpenRequest {
  readonly party: Party;
  /** The id the server chose; servers count from 0. */
  readonly serverId: RequestId;
  readonly uniqueId: string;
  readonly progressToken: unknown;
}

/**
 * The requests of one server that wait for an answer of a client. To clients they have ids that are unique in the
 * installation, and an answer counts only from the conversation that was asked (T-128).
 */
export class ServerRequests {
  readonly #byUniqueId = new Map<unknown, OpenRequest>();
  readonly #byServerId = new Map<unknown, OpenRequest>();

  /** Number of waiting requests. */
  get size(): number {
    return this.#byUniqueId.size;
  }

  /** Returns the parties that were asked and have not answered, the last one that was asked last. */
  parties(): Party[] {
    return [...this.#byUniqueId.values()].map(({ party }) => party);
  }

  /** Notes a request of the server, and gives it in the form the client gets. */
  ask(party: Party, request: RequestMessage): RequestMessage {
    const { _meta: meta } = request.params ?? {};
    const asked = {
      party,
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

  /** Returns the answer of a client in the form the server gets; undefined if nobody waits for it. */
  answer(party: Party, answer: Message): Message | undefined {
    const asked = this.#find(party, answer.id);
    if (!asked) return undefined;
    this.#forget(asked);
    return { ...answer, id: asked.serverId };
  }

  /** Returns a client's `notifications/progress` in the form the server gets; undefined if nothing runs. */
  progress(party: Party, progress: Message): Message | undefined {
    const asked = this.#find(party, progress.params?.progressToken);
    if (asked?.progressToken === undefined) return undefined;
    return { ...progress, params: { ...progress.params, progressToken: asked.progressToken } };
  }

  /** Forgets a request the server cancels; gives who was asked and its `notifications/cancelled`. */
  cancel(cancelled: Message): { party: Party; message: Message } | undefined {
    const asked = this.#byServerId.get(cancelled.params?.requestId);
    if (!asked) return undefined;
    this.#forget(asked);
    const params = { ...cancelled.params, requestId: asked.uniqueId };
    return { party: asked.party, message: { ...cancelled, params } };
  }

  /** Forgets all that a party was asked; gives the ids the server chose. */
  forgetAll(party: Party): RequestId[] {
    const own = [...this.#byUniqueId.values()].filter((asked) => asked.party === party);
    for (const asked of own) this.#forget(asked);
    return own.map(({ serverId }) => serverId);
  }

  #find(party: Party, id: unknown): OpenRequest | undefined {
    const asked = this.#byUniqueId.get(id);
    return asked?.party === party ? asked : undefined;
  }

  #forget(asked: OpenRequest): void {
    this.#byUniqueId.delete(asked.uniqueId);
    if (this.#byServerId.get(asked.serverId) === asked) this.#byServerId.delete(asked.serverId);
  }
}

const process = randomUUID();
let count = 0;

/**
 * Returns an id that no other process of the installation gives, before or after a restart: what a client kept from
 * yesterday can never mean something of today (T-128). It is no secret.
 */
export function uniqueId(): string {
  count++;
  return `${process}-${count.toString(36)}`;
}
