import { encodeHeaderValue } from '../../../client/transports/param-headers.ts';
import type { FairQueue } from '../../../collections/fair-queue.ts';
import {
  type HeldBytes,
  listenMethod,
  methodNotFound,
  namedBy,
  sentNote,
} from '../../../mcp/building-blocks.ts';
import {
  type Answer,
  type Caller,
  type JsonRpcError,
  type Message,
  modernRevision,
  type RequestMessage,
} from '../../../mcp/protocol.ts';
import { type AuthInfo, accountKeyPrefix } from '../../../oauth/auth-info.ts';
import { isAboutTheRequest } from '../../../oauth/mcp-error-codes.ts';
import type { Credentials } from '../../credentials/credentials.ts';
import type { ModernHearing, ModernLink } from '../../modern/modern-link.ts';
import { backendError } from '../backend-errors.ts';
import { readBody, type WireAnswer } from './answer-body.ts';
import { isEventStream, readEventStream } from './event-stream.ts';
import {
  answerOf,
  failureOfStatus,
  freeHeaders,
  isAnswer,
  type LinkFailure,
  readAnswer,
  traceHeaders,
} from './link.ts';
import type { Wire } from './wire.ts';

/** Options of the link to a server of 2026-07-28. */
interface HttpLinkOptions {
  /** Name of the server in errors. */
  name: string;
  wire: Wire;
  url: URL;
  /** Headers of every request, names and values in turn. */
  headers: readonly string[];
  /** Limits the running requests. */
  lanes: FairQueue;
  /** Limits the streams of subscriptions. */
  streams: FairQueue;
  /** Maximum length of a response, and of an event of a stream, in bytes. */
  maxAnswerBytes: number;
  /** Maximum number of values in a response or event. */
  maxAnswerValues: number;
  /** Counts the bytes of responses while they are read. */
  held: HeldBytes;
  /** Returns the credentials of a caller, or the error if there are none. */
  credentials(caller: AuthInfo): Promise<Credentials | { error: JsonRpcError }>;
}

/** Maximum size of the body of an error response that is read, in bytes. */
const maxRefusalBytes = 64 * 1024;

/** Form of a method that may be sent as a header: clients of older revisions may send any text. */
const methodForm = /^[\x21-\x7e]+$/;

/** Failures after which the same request may succeed at once. */
const broken = new Set(['backend_ended', 'backend_unreachable']);

/**
 * Creates the link to a server of 2026-07-28 over Streamable HTTP. Each request is a POST of its own, is answered with
 * JSON or a stream of events, and is cancelled by closing its connection.
 * @see MCP 2026-07-28 transports "Streamable HTTP" (B5-02, B5-03, B5-13, B5-14)
 */
export function createHttpLink(options: HttpLinkOptions): ModernLink {
  const running = new Set<Exchange>();
  let isClosed = false;
  const end = (exchange: Exchange): void => exchange.fail({ reason: 'backend_ended' }, false);
  return {
    isHttp: true,
    send(request, { caller, parameters }, hearing) {
      const exchange = new Exchange(request, options, hearing, () => running.delete(exchange));
      running.add(exchange);
      // Nothing is sent any more for who asks again because it ended. Who asks hears nothing before it has asked.
      if (isClosed) queueMicrotask(() => end(exchange));
      else void exchange.begin(caller, parameters);
      return () => exchange.stop();
    },
    renew(owner) {
      const account = accountKeyPrefix(owner);
      for (const exchange of [...running])
        if (exchange.listensFor(account)) exchange.fail({ reason: 'backend_ended' });
    },
    async close() {
      isClosed = true;
      for (const exchange of [...running]) end(exchange);
    },
  };
}

/** One POST and its response. */
class Exchange {
  readonly #request: RequestMessage;
  readonly #options: HttpLinkOptions;
  readonly #hearing: ModernHearing;
  readonly #onOver: () => void;
  readonly #noteSent: (() => void) | undefined;
  #drop: (() => void) | undefined;
  #leave: (() => void) | undefined;
  #account: string | undefined;
  #isOver = false;

  constructor(request: RequestMessage, options: HttpLinkOptions, hearing: ModernHearing, onOver: () => void) {
    this.#request = request;
    this.#noteSent = sentNote(request);
    this.#options = options;
    this.#hearing = hearing;
    this.#onOver = onOver;
  }

  /** Returns true if it is the stream of a subscription of an account. */
  listensFor(account: string): boolean {
    return this.#request.method === listenMethod && this.#account === account;
  }

  async begin({ authInfo }: Caller, parameters: readonly string[]): Promise<void> {
    const account = accountKeyPrefix(authInfo);
    this.#account = account;
    if (!methodForm.test(this.#request.method)) {
      // Who asks hears nothing before it has asked.
      await Promise.resolve();
      if (this.#isOver) return;
      this.#finish();
      this.#hearing.answered({ status: 404, error: methodNotFound });
      return;
    }
    const credentials = await this.#options.credentials(authInfo);
    if (this.#isOver) return;
    if ('error' in credentials) {
      this.#finish();
      this.#hearing.failed({ error: credentials.error, isBroken: false, isOther: false });
      return;
    }
    const isListening = this.#request.method === listenMethod;
    const lanes = isListening ? this.#options.streams : this.#options.lanes;
    const go = (): void => {
      this.#leave = () => lanes.leave([account]);
      if (this.#isOver) this.#giveLaneBack();
      else this.#send(credentials, parameters);
    };
    const refuse = (): void => this.fail({ reason: 'backend_busy', full: isListening ? 'streams' : 'calls' });
    if (!lanes.enter([account], go, refuse)) refuse();
  }

  /** Cancels the request by closing its connection. */
  stop(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#drop?.();
  }

  /** @param isBroken true if the same request may succeed at once */
  fail(failure: LinkFailure, isBroken: boolean = broken.has(failure.reason)): void {
    if (this.#isOver) return;
    this.#finish();
    this.#drop?.();
    const { reason, status, code, location, address, full, mayBeOther = false } = failure;
    this.#hearing.failed({
      error: backendError(reason, this.#options.name, full),
      isBroken,
      isOther: mayBeOther,
      detail: { reason, status, code, location, address, full },
    });
  }

  #send({ headers, freshHeaders }: Credentials, parameters: readonly string[]): void {
    this.#noteSent?.();
    const { url, wire } = this.#options;
    const { method, params = {} } = this.#request;
    const named = namedBy.get(method);
    const name = named === undefined ? undefined : encodeHeaderValue(params[named]);
    this.#drop = wire.send(
      {
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: [
          ...['content-type', 'application/json', 'accept', 'application/json, text/event-stream'],
          ...this.#options.headers,
          ...freeHeaders({ ...headers, ...freshHeaders?.() }),
          ...parameters,
          ...['mcp-protocol-version', modernRevision, 'mcp-method', method],
          ...(name === undefined ? [] : ['mcp-name', name]),
          ...traceHeaders(this.#request),
        ],
        body: JSON.stringify(this.#request),
      },
      { head: (answer) => this.#head(answer), failed: (failure) => this.fail(failure) },
    );
  }

  #head(answer: WireAnswer): void {
    const { status } = answer;
    const { wire, maxAnswerBytes, held } = this.#options;
    const holding = { held, account: this.#account ?? '' };
    const isTaken = status >= 200 && status < 300;
    if (isTaken && isEventStream(answer)) {
      this.#drop = readEventStream(
        answer,
        { maxEventBytes: maxAnswerBytes, holding },
        {},
        {
          event: ({ data }) => {
            const unreadable = this.#hear(data, status);
            if (unreadable) this.fail({ reason: unreadable });
          },
          ended: (reason) => this.fail({ reason }),
        },
      );
      return;
    }
    this.#drop = () => answer.drop();
    const maxBytes = isTaken ? maxAnswerBytes : maxRefusalBytes;
    readBody(answer, { maxBytes, deadlines: wire.bodies, holding }, (body) => {
      if (this.#isOver) return;
      if (typeof body === 'string') this.fail({ reason: body, status });
      else if (isTaken) this.#readWhole(body, status);
      else this.#refused(status, body);
    });
  }

  #readWhole(body: Buffer, status: number): void {
    const unreadable = this.#hear(body, status);
    this.fail({ reason: unreadable ?? 'backend_answer_unreadable', status });
  }

  /** @returns the reason if it is no message */
  #hear(bytes: Uint8Array, status: number): LinkFailure['reason'] | undefined {
    const messages = readAnswer(bytes, this.#options.maxAnswerValues);
    if (typeof messages === 'string') return messages;
    const own = answerOf(messages, this.#request.id);
    for (const message of messages) {
      if (this.#isOver) return undefined;
      if (message === own) this.#answered(message, status);
      else if (isAnswer(message)) continue;
      else if (message.id === undefined) this.#hearing.notified(message);
    }
    return undefined;
  }

  /** Rejects the request. Only an error about the request itself is passed on; a 401 or 503 concerns the gateway. */
  #refused(status: number, body: Buffer): void {
    const isAbout = isAboutTheRequest(status);
    const messages = isAbout || status === 500 ? readAnswer(body) : [];
    const list = typeof messages === 'string' ? [] : messages;
    // What refuses without the id of the request may be a server that has become one of an older revision (B5-15).
    const own = list.find((message) => isAnswer(message) && message.id === this.#request.id);
    if (own) this.#answered(own, status);
    else this.fail({ reason: failureOfStatus(status), status, mayBeOther: isAbout });
  }

  #answered(message: Message, status: number): void {
    const { result, error } = message as Message & Pick<Answer, 'result' | 'error'>;
    this.#finish();
    // Clients read the errors of 2026-07-28 with these statuses, others only as failures of HTTP.
    const told = status === 400 || status === 404 ? status : 200;
    this.#hearing.answered(error ? { status: told, error } : { status: 200, result: Object(result) });
  }

  #finish(): void {
    this.#isOver = true;
    this.#onOver();
    this.#giveLaneBack();
  }

  #giveLaneBack(): void {
    this.#leave?.();
    this.#leave = undefined;
  }
}
