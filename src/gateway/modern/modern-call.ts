import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { changeOf, listenMethod, progressTokenOf, withIds } from '../../mcp/building-blocks.ts';
import type {
  Answer,
  Call,
  Change,
  ChangeListener,
  Message,
  RequestMessage,
  SubscriptionFilter,
} from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { backendError } from '../backends/backend-errors.ts';
import { withoutCallerAuth } from '../backends/message-rewrites.ts';
import type { ModernFailure, ModernHearing, ModernLink } from './modern-link.ts';

/** Pause before a request is sent again after a broken connection, in milliseconds. */
const sendAgainMs = 250;

/** Requests that change nothing, and may be sent again if their result is unknown. */
const repeatable =
  /^(?:server\/discover|(?:prompts|resources|tools|resources\/templates)\/list|prompts\/get|resources\/read|completion\/complete)$/;

/** Options of a call. */
interface ModernCallParts {
  /** Name of the backend. */
  name: string;
  link: ModernLink;
  /** Maximum time for the response to `server/discover`, in milliseconds; calls have another limit. */
  startMs: number;
  /** Returns an id that is unique on the link. */
  nextId: () => number;
  /**
   * Returns the headers that repeat parameters of the call.
   * @param isStale true if the known definition of the tool turned out to be old
   */
  parametersOf(call: Call, isStale: boolean): Promise<readonly string[]>;
  /** Called with the response before the caller gets it. */
  answered(answer: Answer, call: Call): void;
  /** Called with the failure before the caller gets it. */
  failed(failure: ModernFailure, call: Call): void;
}

/**
 * One request to a server of 2026-07-28. Only its id, its progress token and the caller's own credentials are replaced.
 * If the connection breaks, a request that changes nothing is sent once more, as a new one. If its headers came from an
 * old definition of the tool, that is read again. A caller waits no longer than the time of a start.
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

  /** Sends the request at once. */
  constructor(call: Call, parts: ModernCallParts) {
    this.#call = call;
    this.#parts = parts;
    if (call.request.method === 'server/discover')
      this.#limit = setTimeout(() => this.#giveUp(), parts.startMs).unref();
    if (parts.link.isHttp && call.request.method === 'tools/call') void this.#sendMirrored(false);
    else this.#send([]);
  }

  /** The caller does not wait any more. */
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
      // A program may keep in its memory what its state refers to.
      const isHeldHere = !this.#parts.link.isHttp && answer.result?.resultType === 'input_required';
      this.#call.answer(isHeldHere ? { ...answer, isHeldHere } : answer);
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

/** First and longest pause before a broken subscription is reopened, in milliseconds. */
const firstWaitMs = 500;
const longestWaitMs = 15_000;

const acknowledgement = 'notifications/subscriptions/acknowledged';

/** Options of a subscription. */
interface ModernListeningOptions {
  link: ModernLink;
  filter: SubscriptionFilter;
  /** The request of the listener, and its caller. */
  about: Pick<Call, 'request' | 'caller'>;
  listener: ChangeListener;
  /** Returns an id that is unique on the link. */
  nextId: () => number;
}

/**
 * One subscription at a server of 2026-07-28, for one listener. If it breaks, it is reopened, and everything is
 * reported as changed, because notifications may have been missed.
 * @see MCP 2026-07-28 "Subscriptions" (B1-06, C5-01, C5-02, C5-03)
 */
export class ModernListening {
  readonly #options: ModernListeningOptions;
  #stop: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #waitMs = firstWaitMs;
  #hasBegun = false;
  #isOver = false;

  /** Opens the subscription at once. */
  constructor(options: ModernListeningOptions) {
    this.#options = options;
    this.#open();
  }

  /** Ends the subscription. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stop?.();
  }

  #open(): void {
    const { link, filter, about, nextId } = this.#options;
    const { progressToken: _token, ...meta } = Object(about.request.params?._meta) as Record<string, unknown>;
    const request: RequestMessage = {
      jsonrpc: '2.0',
      id: nextId(),
      method: listenMethod,
      params: { notifications: filter, _meta: meta },
    };
    this.#stop = link.send(
      withoutCallerAuth(request),
      { caller: about.caller, parameters: [] },
      this.#hearing,
    );
  }

  readonly #hearing: ModernHearing = {
    notified: (notification) => {
      if (this.#isOver) return;
      if (notification.method === acknowledgement) this.#acknowledged(notification);
      else {
        const change = changeOf(notification);
        if (change) this.#options.listener.tell(withoutSubscription(change));
      }
    },
    // A server that ends it in order may have more to tell when it is back; one that refuses it has not.
    answered: ({ error }) => (error ? this.#over() : this.#again()),
    failed: ({ isOther }) => (isOther ? this.#over() : this.#again()),
  };

  #acknowledged({ params }: Message): void {
    const { listener, filter } = this.#options;
    if (Object.keys(Object(params?.notifications)).length === 0) {
      this.#stop?.();
      this.#over();
      return;
    }
    this.#waitMs = firstWaitMs;
    if (this.#hasBegun) for (const change of everyChange(filter)) listener.tell(change);
    else listener.begun?.();
    this.#hasBegun = true;
  }

  #again(): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => this.#open(), this.#waitMs).unref();
    this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.listener.ended();
  }
}

/** Removes the subscription id of the gateway: the listener has another. */
function withoutSubscription({ method, params }: Change): Change {
  if (params === undefined) return { method };
  const { _meta: meta, ...content } = params;
  const { [SUBSCRIPTION_ID_META_KEY]: _id, ...others } = Object(meta) as Record<string, unknown>;
  return {
    method,
    params: Object.keys(others).length === 0 ? content : { ...content, _meta: others },
  };
}

function everyChange(filter: SubscriptionFilter): Change[] {
  const lists = (['tools', 'prompts', 'resources'] as const).filter((list) => filter[`${list}ListChanged`]);
  const uris = filter.resourceSubscriptions ?? [];
  return [
    ...lists.map((list) => ({ method: `notifications/${list}/list_changed` })),
    ...uris.map((uri) => ({ method: 'notifications/resources/updated', params: { uri } })),
  ];
}
