import { randomUUID } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/server';
import type { JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';

/** An answer of a client to what it was asked. */
export type ClientAnswer =
  | { result: Record<string, unknown>; error?: undefined }
  | { error: JsonRpcError; result?: undefined };

interface Waiting {
  relatedTo: RequestId;
  settle(answer: ClientAnswer): void;
}

/** Sends a message to the client, as part of one of its requests. */
export type Say = (message: Message, relatedTo: RequestId) => void;

/**
 * Requests to a client of an older revision on behalf of a server of 2026-07-28, while a request of the client runs.
 * @see MCP 2025-11-25 "Elicitation", "Sampling", "Roots" (C4-06)
 */
export class ClientQuestions {
  readonly #say: Say;
  readonly #waiting = new Map<RequestId, Waiting>();
  #asked = 0;

  /** @param say brings a request to the client; its answer has to be offered to {@link take} */
  constructor(say: Say) {
    this.#say = say;
  }

  /**
   * Asks, and waits as long as it takes: a person may have to answer.
   * @param question as it stands in `inputRequests`
   * @param relatedTo id of the client's request during which it is asked
   */
  ask(question: Pick<RequestMessage, 'method' | 'params'>, relatedTo: RequestId): Promise<ClientAnswer> {
    const id = ++this.#asked;
    const { method, params } = question;
    const { promise, resolve } = Promise.withResolvers<ClientAnswer>();
    this.#waiting.set(id, { relatedTo, settle: resolve });
    const asked = params === undefined ? {} : { params: withElicitationId(method, params) };
    this.#say({ jsonrpc: '2.0', id, method, ...asked }, relatedTo);
    return promise;
  }

  /** Takes an answer of the client; one that nobody waits for is dropped (T-128). */
  take({ id, result, error }: Message & Partial<ClientAnswer>): void {
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return;
    this.#waiting.delete(id);
    waiting.settle(error ? { error } : { result: Object(result) });
  }

  /** Takes back what was asked during a request: nobody waits for it any more. */
  cancel(relatedTo: RequestId): void {
    for (const [id, waiting] of this.#waiting) {
      if (waiting.relatedTo !== relatedTo) continue;
      this.#waiting.delete(id);
      const cancelled = { method: 'notifications/cancelled', params: { requestId: id } };
      this.#say({ jsonrpc: '2.0', ...cancelled }, relatedTo);
    }
  }
}

/** Up to 2025-11-25 a URL to be opened has an id, which later revisions do not have (C3-06). */
function withElicitationId(method: string, params: Record<string, unknown>): Record<string, unknown> {
  return method === 'elicitation/create' && params.mode === 'url'
    ? { elicitationId: randomUUID(), ...params }
    : params;
}
