import type { RequestId } from '@modelcontextprotocol/server';
import type { JsonRpcError, Message, RequestMessage } from '../protocol.ts';

/**
 * The responses to the requests of one body or line, collected until they are complete. Ids are compared as JSON values:
 * the number 1 is not the string "1" (B7-13).
 */
export class CollectedAnswers {
  readonly #answers = new Map<RequestId, Message | undefined>();
  #missing: number;

  /** @param requests to be answered; no two of them share an id */
  constructor(requests: readonly RequestMessage[]) {
    for (const { id } of requests) this.#answers.set(id, undefined);
    this.#missing = this.#answers.size;
  }

  /** True if there is at most one request. */
  get isAlone(): boolean {
    return this.#answers.size <= 1;
  }

  /** True if no response is missing. */
  get isComplete(): boolean {
    return this.#missing === 0;
  }

  /**
   * Takes the response to one of the requests; the first one counts.
   * @returns true if it was missing
   */
  take(answer: Message): boolean {
    const { id } = answer;
    if (id === undefined || !this.#isMissing(id)) return false;
    this.#answers.set(id, answer);
    this.#missing--;
    return true;
  }

  /** Removes a request that its sender cancelled. */
  drop(id: RequestId): void {
    if (!this.#isMissing(id)) return;
    this.#answers.delete(id);
    this.#missing--;
  }

  /** Sets an error for each missing response. */
  fail(error: JsonRpcError): void {
    for (const [id, answer] of this.#answers) if (!answer) this.take(errorAnswer(id, error));
  }

  /** Returns the collected responses, in the order of the requests. */
  list(): Message[] {
    return [...this.#answers.values()].filter((answer) => answer !== undefined);
  }

  #isMissing(id: RequestId): boolean {
    return this.#answers.has(id) && this.#answers.get(id) === undefined;
  }
}

/** Returns the error response to a request (JSON-RPC 2.0 section 5.1). */
export function errorAnswer(
  id: RequestId,
  error: JsonRpcError,
): Message & { id: RequestId; error: JsonRpcError } {
  return { jsonrpc: '2.0', id, error };
}

/** Returns true if two of the requests share an id (B7-13, T-142). */
export function hasRepeatedId(requests: readonly RequestMessage[]): boolean {
  return requests.length > 1 && new Set(requests.map(({ id }) => id)).size < requests.length;
}
