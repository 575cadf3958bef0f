import type { RequestId } from '@modelcontextprotocol/server';
import type { Message, RequestMessage } from '../reading/frames.ts';
import type { Party } from './participants.ts';
import { uniqueId } from './unique-id.ts';

/** A request of a server that a client has not answered. */
interface Asked {
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
  readonly #byUniqueId = new Map<unknown, Asked>();
  readonly #byServerId = new Map<unknown, Asked>();

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

  #find(party: Party, id: unknown): Asked | undefined {
    const asked = this.#byUniqueId.get(id);
    return asked?.party === party ? asked : undefined;
  }

  #forget(asked: Asked): void {
    this.#byUniqueId.delete(asked.uniqueId);
    if (this.#byServerId.get(asked.serverId) === asked) this.#byServerId.delete(asked.serverId);
  }
}
