import { changeOf, internalError, invalidParams, readOperations } from '../../mcp/building-blocks.ts';
import type { ChangeRelay, JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Answer, Line, Next, Passing, Step } from './step.ts';

/** Passes a request through the steps; the last one passes it to the server. */
export type Way = (request: RequestMessage, passing: Passing, handOver: Next) => Promise<Answer>;

/** Maximum number of remembered methods: clients may send any. */
const maxMethods = 200;

/** The steps in their order. The steps of a method are looked up once. */
export class Chain {
  readonly #steps: readonly Step[];
  readonly #logger: Pick<Logger, 'error'>;
  readonly #relay: Pick<ChangeRelay, 'tell'> | undefined;
  readonly #ways = new Map<string, Way | undefined>();

  /**
   * @param steps the first is nearest to the client
   * @param relay tells other nodes of changes
   */
  constructor(steps: readonly Step[], logger: Pick<Logger, 'error'>, relay?: Pick<ChangeRelay, 'tell'>) {
    this.#steps = steps;
    this.#logger = logger;
    this.#relay = relay;
  }

  /**
   * Returns the way of a method through the steps, which never throws.
   * @returns undefined if no step concerns the method
   */
  wayOf(method: string): Way | undefined {
    if (this.#ways.has(method)) return this.#ways.get(method);
    const steps = this.#steps.filter((step) => step.cares(method));
    const way = steps.length === 0 ? undefined : this.#through(steps);
    if (this.#ways.size < maxMethods) this.#ways.set(method, way);
    return way;
  }

  /** Returns true if clients may get a notification or request of the server. */
  mayTell(said: Message, line?: Line): boolean {
    return this.#steps.every((step) => step.mayTell?.(said, line) ?? true);
  }

  /** Returns true if the server may get a notification of a client. */
  mayPass(notification: Message, line: Line): boolean {
    return this.#steps.every((step) => step.mayPass?.(notification, line) ?? true);
  }

  /** Returns a request or notification of the server as the client may read it; see {@link Step.relay}. */
  relay(said: Message): Message | { refusal: JsonRpcError } {
    let relayed = said;
    for (const step of this.#steps) {
      const by = step.relay?.(relayed) ?? relayed;
      if ('refusal' in by) return by;
      relayed = by;
    }
    return relayed;
  }

  /** Reports a change to the steps. */
  hear(notification: Message, behind: object): void {
    for (const step of this.#steps) step.hear?.(notification, behind);
    const change = this.#relay && changeOf(notification);
    if (change) this.#relay?.tell(change);
  }

  #through(steps: readonly Step[]): Way {
    return async (request, passing, handOver) => {
      // No guard takes what cannot be read for nothing to guard (FA-01).
      if (typeof readOperations([request]) === 'string') return { error: invalidParams };
      const from =
        (at: number): Next =>
        (passed) => {
          const step = steps[at];
          return step ? step.answer(passed, passing, from(at + 1)) : handOver(passed);
        };
      try {
        return await from(0)(request);
      } catch (error) {
        this.#logger.error({ err: error, method: request.method }, 'a step before an MCP server failed');
        return { error: internalError };
      }
    };
  }
}

/** Options of a request on its way. */
type Guidance = Pick<Passing, 'caller' | 'era' | 'behind' | 'ask'>;

/** A request on its way through the steps. */
export class SteppedRequest implements Passing {
  readonly caller: AuthInfo | undefined;
  readonly era: Passing['era'];
  readonly behind: object;
  readonly ask: Passing['ask'];
  #cancelling: AbortController | undefined;
  #isCancelled = false;
  #tell: (() => void) | undefined;

  constructor({ caller, era, behind, ask }: Guidance) {
    this.caller = caller;
    this.era = era;
    this.behind = behind;
    this.ask = ask;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Created at first use; most requests need none. */
  get signal(): AbortSignal {
    if (!this.#cancelling) {
      this.#cancelling = new AbortController();
      if (this.#isCancelled) this.#cancelling.abort();
    }
    return this.#cancelling.signal;
  }

  onProgress(tell: () => void): void {
    this.#tell = tell;
  }

  /** The server shows that it works on the request. */
  progress(): void {
    this.#tell?.();
  }

  /** Nobody waits for the response any more. */
  cancel(): void {
    this.#isCancelled = true;
    this.#cancelling?.abort();
  }
}
