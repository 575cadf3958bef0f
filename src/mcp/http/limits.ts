import { Idleness } from '../../collections/closing.ts';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Posted, Serve, ServePosted } from './exchange.ts';
import { type Refusal, toolCalledTooOften, tooManyRequests } from './refusal.ts';

/** Counts the calls a principal has in flight, over all transports of an endpoint. */
export interface CallLimit {
  /**
   * Counts calls that begin, one by default.
   * @param principal see `principalKey`
   * @returns true if they may begin; if that would be too many, none is counted
   */
  begin(principal: string, calls?: number): boolean;
  /** Counts calls that ended, one by default. */
  end(principal: string, calls?: number): void;
}

/** A limit of calls that can also wait until none runs. */
export interface CallCount extends CallLimit {
  /**
   * Resolves when no call runs.
   * @param patienceMs maximum wait, in milliseconds; then it resolves although calls run
   */
  whenNoneRuns(patienceMs: number): Promise<void>;
  /** Returns the number of calls that run. */
  total(): number;
}

/**
 * Creates the count of calls in flight, so that one principal cannot keep a server busy alone.
 * @param max most calls of one principal at a time
 */
export function createCallLimit(max: number): CallCount {
  const running = new InFlightMap<string, number>();
  const idleness = new Idleness(() => running.size === 0);
  return {
    begin(principal, calls = 1) {
      const count = (running.get(principal) ?? 0) + calls;
      if (calls > 0 && count > max) return false;
      if (calls > 0) running.set(principal, count);
      return true;
    },
    end(principal, calls = 1) {
      const count = (running.get(principal) ?? 0) - calls;
      if (count > 0) running.set(principal, count);
      else running.delete(principal);
      idleness.ended();
    },
    total: () => running.values().reduce((sum, count) => sum + count, 0),
    whenNoneRuns: (patienceMs) => idleness.wait(patienceMs),
  };
}

/** Counts open streams that belong to no session. */
export interface StreamLimit {
  /** Counts a stream that opens. @returns the refusal if it may not */
  begin(principal: string): Refusal | undefined;
  /** Counts a stream that closed. */
  end(principal: string): void;
}

/** Creates the count of streams, of each principal and of all (T-144, T-145). */
export function createStreamLimit(maxPerPrincipal: number, maxTotal: number): StreamLimit {
  const own: CallLimit = createCallLimit(maxPerPrincipal);
  let total = 0;
  return {
    begin(principal) {
      if (total >= maxTotal) return { reason: 'sessions_exhausted', headers: { 'Retry-After': '60' } };
      if (!own.begin(principal)) return { reason: 'too_many_streams', headers: { 'Retry-After': '60' } };
      total++;
      return undefined;
    },
    end(principal) {
      own.end(principal);
      total--;
    },
  };
}

/** Deadlines that all lie equally far ahead. They do not keep the process alive. */
export class Deadlines {
  readonly #timeoutMs: number;

  /** @param timeoutMs in milliseconds */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Sets a deadline.
   * @param onEnd called once when the deadline has passed
   * @returns takes the deadline back
   */
  set(onEnd: () => void): () => void {
    const timer = setTimeout(onEnd, this.#timeoutMs).unref();
    return () => clearTimeout(timer);
  }
}

/** Limits the requests of callers. */
export interface RequestLimit {
  /** Counts a request. @returns 0, or the seconds until there is room again */
  take(caller: AuthInfo): Promise<number>;
}

/** Limits the calls of tools. */
export interface ToolCallLimit {
  /**
   * Counts the calls of one body, all of them or none.
   * @param tools the tool name of each call
   * @returns 0, or the seconds until there is room again
   */
  take(caller: AuthInfo, tools: readonly string[]): number;
}

/** Rejects the requests of callers who send too many. @param limit undefined if nothing is counted */
export function limitRequests(limit: RequestLimit | undefined, serve: Serve): Serve {
  if (!limit) return serve;
  return async (exchange) => {
    if (exchange.isCounted) return serve(exchange);
    const waitSeconds = await limit.take(exchange.authInfo);
    return waitSeconds > 0 ? tooManyRequests(waitSeconds) : serve(exchange);
  };
}

/**
 * Counts the tool calls of a body before any of them runs (FA-32).
 * @param limit undefined if nothing is counted
 */
export function limitToolCalls<Body extends Posted | undefined>(
  limit: ToolCallLimit | undefined,
  serve: ServePosted<Body>,
): ServePosted<Body> {
  if (!limit) return serve;
  return async (exchange, posted) => {
    const calledTools = posted?.messages.operations.filter(({ kind }) => kind === 'tool') ?? [];
    if (!posted || exchange.isCounted || calledTools.length === 0) return serve(exchange, posted);
    const waitSeconds = limit.take(
      exchange.authInfo,
      calledTools.map(({ name }) => name),
    );
    if (waitSeconds === 0) return serve(exchange, posted);
    const { isBatch, requests } = posted.messages;
    const [request] = isBatch ? [] : requests;
    return { ...toolCalledTooOften(waitSeconds), ...(request && { id: request.id }) };
  };
}
