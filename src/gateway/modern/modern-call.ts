import { progressTokenOf, withIds } from '../../mcp/building-blocks.ts';
import type { Answer, Call, Message, RequestMessage } from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { backendError } from '../backends/backend-errors.ts';
import { withoutCallerAuth } from '../backends/without-caller-auth.ts';
import type { ModernFailure, ModernHearing, ModernLink } from './modern-link.ts';

/** Milliseconds after a broken connection until a request is sent again. */
const sendAgainMs = 250;

/** Requests that change nothing, and may be sent again if it is not known what became of them. */
const repeatable =
  /^(?:server\/discover|(?:prompts|resources|tools|resources\/templates)\/list|prompts\/get|resources\/read|completion\/complete)$/;

/** Options of a call. */
export interface ModernCallParts {
  /** Name of the backend. */
  name: string;
  link: ModernLink;
  /** Milliseconds that the response to `server/discover` may take; calls have a limit elsewhere. */
  startMs: number;
  /** Returns an id that is unique on the link. */
  nextId: () => number;
  /**
   * Returns the headers that repeat parameters of the call.
   * @param isStale what was known of the tool has turned out to be old
   */
  parametersOf(call: Call, isStale: boolean): Promise<readonly string[]>;
  /** Sees the answer before the caller does. */
  answered(answer: Answer, call: Call): void;
  /** Sees why there is none. */
  failed(failure: ModernFailure, call: Call): void;
}

/**
 * One request on its way to a server of 2026-07-28, as it is: only its id, its progress token and credentials somebody
 * put into it are replaced. If the connection breaks, a request that changes nothing is sent once more, as a new one;
 * if headers were made of an old definition of a tool, it is looked at again. Who waits to begin with a server, in any
 * era, waits no longer than for the start of one.
 * @see MCP 2026-07-28 "Resumability", transports "Custom Headers from Tool Parameters" (B1-06, B5-11, B5-14, T-127)
 */
export class ModernCall {
  readonly #call: Call;
  readonly #parts: ModernCallParts;
  #stop: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;
  #isRepeated = false;
  #isRelisted = false;
  #isOver = false;

  /** Sends it at once. */
  constructor(call: Call, parts: ModernCallParts) {
    this.#call = call;
    this.#parts = parts;
    if (call.request.method === 'server/discover')
      this.#limit = setTimeout(() => this.#giveUp(), parts.startMs).unref();
    if (parts.link.isHttp && call.request.method === 'tools/call') void this.#sendMirrored(false);
    else this.#send([]);
  }

  /** Nobody waits for it any more. */
  cancel(): void {
    this.#end();
    this.#stop?.();
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#limit);
  }

  #giveUp(): void {
    const reason = 'backend_start_timed_out';
    const error = backendError(reason, this.#parts.name);
    this.#stop?.();
    this.#fail({ error, isBroken: false, isOther: false, detail: { reason } });
  }

  #fail(failure: ModernFailure): void {
    this.#end();
    this.#parts.failed(failure, this.#call);
    this.#call.answer({ status: 200, error: failure.error });
  }

  async #sendMirrored(isStale: boolean): Promise<void> {
    const parameters = await this.#parts.parametersOf(this.#call, isStale).catch(() => []);
    if (!this.#isOver) this.#send(parameters);
  }

  #send(parameters: readonly string[]): void {
    const { link, nextId } = this.#parts;
    const { request, caller } = this.#call;
    const sent = withoutCallerAuth(withIds(request, nextId()) as RequestMessage);
    this.#stop = link.send(sent, { caller, parameters }, this.#hearing);
  }

  readonly #hearing: ModernHearing = {
    notified: (notification) => {
      if (!this.#isOver) this.#notified(notification);
    },
    answered: (answer) => {
      if (this.#isOver) return;
      const isMismatch = answer.error?.code === errorCodes.headerMismatch && this.#parts.link.isHttp;
      if (isMismatch && this.#call.request.method === 'tools/call' && !this.#isRelisted) {
        this.#isRelisted = true;
        void this.#sendMirrored(true);
        return;
      }
      this.#end();
      this.#parts.answered(answer, this.#call);
      this.#call.answer(answer);
    },
    failed: (failure) => {
      if (this.#isOver) return;
      if (failure.isBroken && !this.#isRepeated && repeatable.test(this.#call.request.method)) {
        this.#isRepeated = true;
        this.#timer = setTimeout(() => this.#send([]), sendAgainMs);
        return;
      }
      this.#fail(failure);
    },
  };

  #notified(notification: Message): void {
    const { method, params } = notification;
    if (method === 'notifications/message') this.#call.notify(notification);
    const progressToken = progressTokenOf(this.#call.request);
    if (method !== 'notifications/progress' || progressToken === undefined) return;
    this.#call.notify({ ...notification, params: { ...params, progressToken } });
  }
}
