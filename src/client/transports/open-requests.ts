import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';

/** Requests that change nothing, and may be sent again where it is not known whether the server got them. */
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

/** A request that waits for its answer. */
export interface OpenRequest {
  /** As the client sent it. */
  message: JSONRPCRequest;
  options: TransportSendOptions;
  /** What it was last sent through. */
  via?: Transport;
  /** Whether that has taken it, so that only the connection can keep its answer back. */
  isTaken: boolean;
  /** Whether this is its second time. */
  isRepeated: boolean;
}

/** The requests of a connection that wait for answers, by the ids they went out with. */
export class OpenRequests {
  readonly #open = new Map<RequestId, OpenRequest>();
  #repeated = 0;

  /** Begins to wait; ends with {@link answered}, or where the request is aborted. */
  add(message: JSONRPCRequest, options: TransportSendOptions): void {
    this.#open.set(message.id, { message, options, isTaken: false, isRepeated: false });
    options.requestSignal?.addEventListener('abort', () => this.cancelled(message.id), { once: true });
  }

  /** The request is on its way. */
  sending(id: RequestId, via: Transport): void {
    const request = this.#open.get(id);
    if (request) Object.assign(request, { via, isTaken: false });
  }

  /** The server has taken the request. */
  taken(id: RequestId): void {
    const request = this.#open.get(id);
    if (request) request.isTaken = true;
  }

  /** Whether an answer may still come this way. */
  areOpen(via: Transport): boolean {
    return [...this.#open.values()].some((request) => request.via === via);
  }

  /**
   * Ends waiting for an answer.
   * @param id the id a request went out with
   * @returns the request; undefined where nobody waits for it
   */
  answered(id: RequestId | undefined): OpenRequest | undefined {
    if (id === undefined) return undefined;
    const request = this.#open.get(id);
    this.#open.delete(id);
    return request;
  }

  /** Ends waiting for what the client no longer wants to know. */
  cancelled(id: unknown): void {
    for (const [sentAs, { message }] of this.#open) if (message.id === id) this.#open.delete(sentAs);
  }

  /** Ids of the requests that were taken. */
  takenBy(transport: Transport): RequestId[] {
    return [...this.#open].filter(([, { via, isTaken }]) => isTaken && via === transport).map(([id]) => id);
  }

  /**
   * The request to send in place of one whose answer cannot come any more, with an id of its own (B5-14).
   * @returns undefined where it must not be repeated: it may have had its effect, or this was the second time
   */
  repeat({ message, options, isRepeated }: OpenRequest): JSONRPCRequest | undefined {
    if (isRepeated || !repeatableMethods.has(message.method) || options.requestSignal?.aborted)
      return undefined;
    const again = { ...message, id: `again-${++this.#repeated}` };
    this.#open.set(again.id, { message, options, isTaken: false, isRepeated: true });
    return again;
  }
}

/** Longest wait for an answer, in milliseconds. */
const patienceMs = 30_000;

/** Requests that a transport sends on its own, beside those of its client. */
export class OwnRequests {
  readonly #waiting = new Map<RequestId, (answer: JSONRPCMessage) => void>();
  #sent = 0;

  /**
   * Sends a request with an id of its own.
   * @param transport what to send it through; its answers have to be offered to {@link take}
   * @returns the answer, which may be an error
   * @throws ClientError `timed_out`; what the transport throws
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

  /** @returns whether the message answers one of these requests */
  take(message: JSONRPCMessage): boolean {
    if ('method' in message || message.id === undefined) return false;
    const resolve = this.#waiting.get(message.id);
    resolve?.(message);
    return resolve !== undefined;
  }
}
