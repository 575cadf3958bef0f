import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';

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
