import { randomUUID } from 'node:crypto';
import { type RequestId, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import { type InputRequest, readInputRequests, resultNotServed } from '../../mcp/building-blocks.ts';
import {
  type Answer,
  type Backend,
  type Caller,
  type InitializeResult,
  type JsonRpcError,
  legacyRevisions,
  type Message,
  newestLegacyRevision,
  type RequestMessage,
} from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';

/** Response to a request of an older revision. */
export type LegacyAnswer = { result: Record<string, unknown> } | { error: JsonRpcError };

/** Dependencies of a translated call. */
interface TranslatedCallParts {
  backend: Pick<Backend, 'begin'>;
  questions: ClientQuestions;
  caller: Caller;
  /** Takes a notification that belongs to the request. */
  notify(notification: Message): void;
  /** Takes the response, once. */
  answer(answer: LegacyAnswer): void;
}

/** Maximum number of rounds of input during one call. */
const maxRounds = 32;

/** Pause before a request is repeated for a server that asks only for that, in milliseconds (C4-02). */
const tryAgainMs = 500;

/**
 * A request of an older revision to a server of 2026-07-28. If the server needs input (`input_required`), the client is
 * asked, and the request is sent again with its responses.
 * @see MCP 2026-07-28 "Multi Round-Trip Requests" (C4-05, C4-06)
 */
export class TranslatedCall {
  readonly #request: RequestMessage;
  readonly #parts: TranslatedCallParts;
  #rounds = 0;
  #isOver = false;
  #cancel: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param request with the `_meta` of 2026-07-28 */
  constructor(request: RequestMessage, parts: TranslatedCallParts) {
    this.#request = request;
    this.#parts = parts;
  }

  /** Sends it. */
  begin(): void {
    this.#send({});
  }

  /** The client has cancelled the request: cancels it at the server, and the questions to the client. */
  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#parts.questions.cancel(this.#request.id);
    this.#cancel?.();
  }

  #send(more: Record<string, unknown>): void {
    const { backend, caller, notify } = this.#parts;
    const { params } = this.#request;
    this.#cancel = backend.begin({
      request: { ...this.#request, params: { ...params, ...more } },
      caller,
      notify: (notification) => {
        if (!this.#isOver) notify(notification);
      },
      answer: (answer) => this.#hear(answer),
    });
  }

  #hear({ result, error }: Answer): void {
    if (this.#isOver) return;
    if (error) this.#finish({ error: legacyError(error, this.#request) });
    else if (result.resultType === 'input_required') this.#ask(result);
    else {
      const translated = legacyResult(result);
      this.#finish(translated ? { result: translated } : { error: resultNotServed });
    }
  }

  #ask({ inputRequests, requestState }: Record<string, unknown>): void {
    if (++this.#rounds > maxRounds) {
      this.#finish({ error: tooManyRounds });
      return;
    }
    const state = requestState === undefined ? {} : { requestState };
    const questions = readInputRequests(inputRequests);
    if (!questions) {
      this.#finish({ error: resultNotServed });
      return;
    }
    const asked = Object.entries(questions);
    if (asked.length === 0) {
      this.#timer = setTimeout(() => this.#send(state), tryAgainMs);
      return;
    }
    void this.#gather(asked).then((inputResponses) => {
      if (inputResponses && !this.#isOver) this.#send({ inputResponses, ...state });
    });
  }

  /** @returns undefined if the client rejected a question, which ends the call */
  async #gather(asked: [string, InputRequest][]): Promise<Record<string, unknown> | undefined> {
    const { questions } = this.#parts;
    const { id } = this.#request;
    const answered = await Promise.all(
      asked.map(async ([key, question]) => {
        const { result, error } = await questions.ask(question, id);
        if (error) this.#refused(error);
        return [key, result] as const;
      }),
    );
    return this.#isOver ? undefined : Object.fromEntries(answered);
  }

  #refused(error: JsonRpcError): void {
    if (this.#isOver) return;
    this.#finish({ error });
    this.#parts.questions.cancel(this.#request.id);
  }

  #finish(answer: LegacyAnswer): void {
    this.#isOver = true;
    this.#parts.answer(answer);
  }
}

const tooManyRounds: JsonRpcError = {
  code: errorCodes.internalError,
  message: `The MCP server asked for input ${maxRounds} times, and still wants more. Call it again with other arguments.`,
};

/** Response of a client to a question. */
type ClientAnswer =
  | { result: Record<string, unknown>; error?: undefined }
  | { error: JsonRpcError; result?: undefined };

interface Waiting {
  relatedTo: RequestId;
  settle(answer: ClientAnswer): void;
}

/** Sends a message to the client during one of its requests. */
type Say = (message: Message, relatedTo: RequestId) => void;

/**
 * Sends requests to a client of an older revision for a server of 2026-07-28, during a request of the client.
 * @see MCP 2025-11-25 "Elicitation", "Sampling", "Roots" (C4-06)
 */
export class ClientQuestions {
  readonly #say: Say;
  readonly #waiting = new Map<RequestId, Waiting>();
  #asked = 0;

  /** @param say sends a message to the client; its responses must be passed to {@link take} */
  constructor(say: Say) {
    this.#say = say;
  }

  /**
   * Sends a request, and waits without a limit: a user may have to answer.
   * @param question an entry of `inputRequests`
   * @param relatedTo id of the running request of the client
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

  /** Takes a response of the client; an unexpected one is dropped (T-128). */
  take({ id, result, error }: Message & Partial<ClientAnswer>): void {
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return;
    this.#waiting.delete(id);
    waiting.settle(error ? { error } : { result: Object(result) });
  }

  /** Cancels the questions of a request. */
  cancel(relatedTo: RequestId): void {
    for (const [id, waiting] of this.#waiting) {
      if (waiting.relatedTo !== relatedTo) continue;
      this.#waiting.delete(id);
      const cancelled = { method: 'notifications/cancelled', params: { requestId: id } };
      this.#say({ jsonrpc: '2.0', ...cancelled }, relatedTo);
    }
  }
}

/** Adds the id of a URL elicitation, which revisions up to 2025-11-25 require (C3-06). */
function withElicitationId(method: string, params: Record<string, unknown>): Record<string, unknown> {
  return method === 'elicitation/create' && params.mode === 'url'
    ? { elicitationId: randomUUID(), ...params }
    : params;
}

/**
 * Converts a result of 2026-07-28 for the older revisions, which have no server information and no `resultType` in
 * results. `ttlMs` and `cacheScope` stay as additional members.
 * @returns undefined if the older revisions have no such result
 */
export function legacyResult(result: Record<string, unknown>): Record<string, unknown> | undefined {
  const { resultType = 'complete', _meta: meta, ...content } = result;
  if (resultType !== 'complete') return undefined;
  const { [SERVER_INFO_META_KEY]: _serverInfo, ...others } = Object(meta) as Record<string, unknown>;
  return Object.keys(others).length === 0 ? content : { ...content, _meta: others };
}

/**
 * Converts the code of an error of 2026-07-28 for the older revisions.
 * @see MCP 2025-11-25 "Resources", error handling (C3-06)
 */
export function legacyError(error: JsonRpcError, { method }: Pick<RequestMessage, 'method'>): JsonRpcError {
  const { code, data } = error;
  const isMissing =
    method === 'resources/read' && code === errorCodes.invalidParams && Object.hasOwn(Object(data), 'uri');
  return isMissing ? { ...error, code: errorCodes.resourceNotFound } : error;
}

/**
 * Builds the response to `initialize` from the response to `server/discover`.
 * @param requested the requested revision
 * @see MCP 2025-11-25 lifecycle "Initialization" (C3-03)
 */
export function initializeResult(
  { capabilities, instructions, _meta: meta }: Record<string, unknown>,
  requested: unknown,
): InitializeResult {
  const serverInfo = (Object(meta) as Record<string, unknown>)[SERVER_INFO_META_KEY] ?? unnamed;
  return {
    protocolVersion: legacyRevisions.includes(requested as string)
      ? (requested as string)
      : newestLegacyRevision,
    capabilities: Object(capabilities) as Record<string, unknown>,
    serverInfo: serverInfo as InitializeResult['serverInfo'],
    ...(typeof instructions === 'string' && { instructions }),
  };
}

const unnamed = { name: 'unnamed', version: '0' };
