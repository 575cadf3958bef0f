import type { RequestId } from '@modelcontextprotocol/server';
import type { JsonRpcError, Message, RequestMessage } from '../protocol.ts';

/**
 * The answers to the requests of one body or one line, gathered until none is missing. Ids are told apart as JSON
 * does: the number 1 is not the string "1" (B7-13).
 */
export class CollectedAnswers {
  readonly #answers = new Map<RequestId, Message | undefined>();
  #missing: number;

  /** @param requests those to be answered; no two of them share an id */
  constructor(requests: readonly RequestMessage[]) {
    for (const { id } of requests) this.#answers.set(id, undefined);
    this.#missing = this.#answers.size;
  }

  /** True if there is one request alone, whose answer waits for no other. */
  get isAlone(): boolean {
    return this.#answers.size <= 1;
  }

  /** True if nothing is missing any more. */
  get isComplete(): boolean {
    return this.#missing === 0;
  }

  /**
   * Takes the answer to one of the requests; the first one counts.
   * @returns whether it was missing
   */
  take(answer: Message): boolean {
    const { id } = answer;
    if (id === undefined || !this.#isMissing(id)) return false;
    this.#answers.set(id, answer);
    this.#missing--;
    return true;
  }

  /** Expects no answer any more to a request its sender cancelled. */
  drop(id: RequestId): void {
    if (!this.#isMissing(id)) return;
    this.#answers.delete(id);
    this.#missing--;
  }

  /** Answers what is missing with an error. */
  fail(error: JsonRpcError): void {
    for (const [id, answer] of this.#answers) if (!answer) this.take(errorAnswer(id, error));
  }

  /** Returns the answers there are, in the order of the requests. */
  list(): Message[] {
    return [...this.#answers.values()].filter((answer) => answer !== undefined);
  }

  #isMissing(id: RequestId): boolean {
    return this.#answers.has(id) && this.#answers.get(id) === undefined;
  }
}

/** Writes the error that answers a request (JSON-RPC 2.0 section 5.1). */
export function errorAnswer(
  id: RequestId,
  error: JsonRpcError,
): Message & { id: RequestId; error: JsonRpcError } {
  return { jsonrpc: '2.0', id, error };
}

/** Returns true if two of the requests share an id, so that their answers could not be told apart (B7-13, T-142). */
export function hasRepeatedId(requests: readonly RequestMessage[]): boolean {
  return requests.length > 1 && new Set(requests.map(({ id }) => id)).size < requests.length;
}
