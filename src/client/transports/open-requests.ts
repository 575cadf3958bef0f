import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';

/** Requests without an effect, which may be repeated if it is unknown whether the server received them. */
const repeatableMethods = new Set([
  'completion/complete',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'server/discover',
  'tools/list',
]);

/** A request that waits for its response. */
export interface OpenRequest {
  /** As the client sent it. */
  message: JSONRPCRequest;
  options: TransportSendOptions;
  /** The transport that it was last sent through. */
  via?: Transport;
  /** True after the transport has sent it: then only a broken connection can prevent its response. */
  isTaken: boolean;
  /** True if it was repeated. */
  isRepeated: boolean;
}

/** The requests of a connection that wait for responses, by the ids that they were sent with. */
export class OpenRequests {
  readonly #open = new Map<RequestId, OpenRequest>();
  #repeated = 0;

  /** Adds a request; it is removed by {@link answered}, or if it is aborted. */
  add(message: JSONRPCRequest, options: TransportSendOptions): void {
    this.#open.set(message.id, { message, options, isTaken: false, isRepeated: false });
    options.requestSignal?.addEventListener('abort', () => this.cancelled(message.id), { once: true });
  }

  /** Records that a request is being sent. */
  sending(id: RequestId, via: Transport): void {
    const request = this.#open.get(id);
    if (request) Object.assign(request, { via, isTaken: false });
  }

  /** Records that a request was sent. */
  taken(id: RequestId): void {
    const request = this.#open.get(id);
    if (request) request.isTaken = true;
  }

  /** Checks if a response may still arrive through this transport. */
  areOpen(via: Transport): boolean {
    return [...this.#open.values()].some((request) => request.via === via);
  }

  /**
   * Removes a request.
   * @param id the id that it was sent with
   * @returns the request; undefined if there is none
   */
  answered(id: RequestId | undefined): OpenRequest | undefined {
    if (id === undefined) return undefined;
    const request = this.#open.get(id);
    this.#open.delete(id);
    return request;
  }

  /** Removes a request that the client cancelled. */
  cancelled(id: unknown): void {
    for (const [sentAs, { message }] of this.#open) if (message.id === id) this.#open.delete(sentAs);
  }

  /** Returns the ids of the requests that were sent through this transport. */
  takenBy(transport: Transport): RequestId[] {
    return [...this.#open].filter(([, { via, isTaken }]) => isTaken && via === transport).map(([id]) => id);
  }

  /**
   * Returns the request to send instead of one whose response is lost, with a new id (B5-14).
   * @returns undefined if it must not be repeated: it may have had its effect, or it was repeated before
   */
  repeat({ message, options, isRepeated }: OpenRequest): JSONRPCRequest | undefined {
    if (isRepeated || !repeatableMethods.has(message.method) || options.requestSignal?.aborted)
      return undefined;
    const again = { ...message, id: `again-${++this.#repeated}` };
    this.#open.set(again.id, { message, options, isTaken: false, isRepeated: true });
    return again;
  }
}

/** Maximum wait for a response, in milliseconds. */
const patienceMs = 30_000;

/** Requests that a transport sends on its own, besides those of its client. */
export class OwnRequests {
  readonly #waiting = new Map<RequestId, (answer: JSONRPCMessage) => void>();
  #sent = 0;

  /**
   * Sends a request with an id of its own.
   * @param transport sends the request; its messages have to be passed to {@link take}
   * @returns the response, which may be an error
   * @throws ClientError `timed_out`; the errors of the transport
   */
  async ask(transport: Transport, request: Omit<JSONRPCRequest, 'id'>): Promise<JSONRPCMessage> {
    const id = `own-${++this.#sent}`;
    const { promise, resolve, reject } = Promise.withResolvers<JSONRPCMessage>();
    const late = (): void => reject(new ClientError('timed_out', 'The server did not answer in time.'));
    const timer = setTimeout(late, patienceMs);
    this.#waiting.set(id, resolve);
    try {
      await transport.send({ ...request, id });
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Checks if a message is the response to one of these requests. */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) return false;
    const resolve = this.#waiting.get(message.id);
    resolve?.(message);
    return resolve !== undefined;
  }
}
