import { type InputRequest, readInputRequests, resultNotServed } from '../../mcp/building-blocks.ts';
import type { Answer, Backend, Caller, JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { ClientQuestions } from './client-questions.ts';
import { legacyError, legacyResult } from './legacy-answers.ts';

/** The answer to a request of an older revision. */
export type LegacyAnswer = { result: Record<string, unknown> } | { error: JsonRpcError };

/** Options of a translated call. */
export interface TranslatedCallParts {
  backend: Pick<Backend, 'begin'>;
  questions: ClientQuestions;
  caller: Caller;
  /** Takes a notification that belongs to the request. */
  notify(notification: Message): void;
  /** Takes the answer, once. */
  answer(answer: LegacyAnswer): void;
}

/** Most times a server may ask for input during one call. */
const maxRounds = 32;

/** Pause before a request is sent again to a server that asks for nothing but another try, in milliseconds (C4-02). */
const tryAgainMs = 500;

/**
 * A request of an older revision at a server of 2026-07-28. If the server needs input (`input_required`), the client of the
 * request is asked, and the request is sent again with its responses.
 * @see MCP 2026-07-28 "Multi Round-Trip Requests" (C4-05, C4-06)
 */
export class TranslatedCall {
  readonly #request: RequestMessage;
  readonly #parts: TranslatedCallParts;
  #rounds = 0;
  #isOver = false;
  #cancel: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param request as the server is to see it, with the `_meta` of 2026-07-28 */
  constructor(request: RequestMessage, parts: TranslatedCallParts) {
    this.#request = request;
    this.#parts = parts;
  }

  /** Sends it. */
  begin(): void {
    this.#send({});
  }

  /** The client does not wait for it any more: the server is told, and nothing is asked. */
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

  /** @returns undefined if the client refused, which ends the call */
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
