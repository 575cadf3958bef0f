import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ProtocolError,
  type RequestId,
  type Result,
} from '@modelcontextprotocol/client';
import type { HostSide } from './relay.ts';

/** What is asked of a host on behalf of a server: requests with ids of the bridge's own. */
export class HostQuestions {
  readonly #host: Pick<HostSide, 'write'>;
  readonly #waiting = new Map<RequestId, (answer: JSONRPCMessage) => void>();
  #asked = 0;

  /** @param host who is asked; its answers have to be offered to {@link take} */
  constructor(host: Pick<HostSide, 'write'>) {
    this.#host = host;
  }

  /**
   * Asks the host, and waits as long as it takes: a person may have to answer.
   * @throws ProtocolError what the host answered with
   */
  async ask(method: string, params?: object): Promise<Result> {
    const id = `gatehouse-${++this.#asked}`;
    const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
    this.#waiting.set(id, resolve);
    this.#host.write({
      jsonrpc: '2.0',
      id,
      method,
      ...(params && { params: params as Record<string, unknown> }),
    });
    const answer = await promise;
    this.#waiting.delete(id);
    if (isJSONRPCErrorResponse(answer))
      throw ProtocolError.fromError(answer.error.code, answer.error.message, answer.error.data);
    return isJSONRPCResultResponse(answer) ? answer.result : {};
  }

  /** Takes an answer of the host; one that nobody waits for is dropped. */
  take(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#waiting.get(message.id)?.(message);
  }
}
