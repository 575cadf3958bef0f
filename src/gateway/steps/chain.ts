import { internalError, invalidParams, readOperations } from '../../mcp/building-blocks.ts';
import type { JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Answer, Line, Next, Passing, Step } from './step.ts';

/** The steps of a request on its way to the server; the last one passes it on. */
export type Way = (request: RequestMessage, passing: Passing, handOver: Next) => Promise<Answer>;

/** Methods are remembered as clients send them, and they may send any. */
const maxMethods = 200;

/** Steps in their order. Which of them a method goes through is looked up once. */
export class Chain {
  readonly #steps: readonly Step[];
  readonly #logger: Pick<Logger, 'error'>;
  readonly #ways = new Map<string, Way | undefined>();

  /** @param steps the first is the nearest to the client */
  constructor(steps: readonly Step[], logger: Pick<Logger, 'error'>) {
    this.#steps = steps;
    this.#logger = logger;
  }

  /**
   * Returns the way of a method's requests through the steps; it never throws.
   * @returns undefined if no step has to do with them
   */
  wayOf(method: string): Way | undefined {
    if (this.#ways.has(method)) return this.#ways.get(method);
    const steps = this.#steps.filter((step) => step.cares(method));
    const way = steps.length === 0 ? undefined : this.#through(steps);
    if (this.#ways.size < maxMethods) this.#ways.set(method, way);
    return way;
  }

  /** Returns true if no step keeps a notification or request of the server from clients. */
  mayTell(said: Message, line?: Line): boolean {
    return this.#steps.every((step) => step.mayTell?.(said, line) ?? true);
  }

  /** Returns true if no step keeps a notification of a client from the server. */
  mayPass(notification: Message, line: Line): boolean {
    return this.#steps.every((step) => step.mayPass?.(notification, line) ?? true);
  }

  /** Returns what the server asks or tells its client as the client may read it; see {@link Step.relay}. */
  relay(said: Message): Message | { refusal: JsonRpcError } {
    let relayed = said;
    for (const step of this.#steps) {
      const by = step.relay?.(relayed) ?? relayed;
      if ('refusal' in by) return by;
      relayed = by;
    }
    return relayed;
  }

  /** Passes the server's messages to the steps. */
  hear(notification: Message, behind: object): void {
    for (const step of this.#steps) step.hear?.(notification, behind);
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
