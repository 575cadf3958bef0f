import { LOG_LEVEL_META_KEY, type RequestId, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../../collections/in-flight-map.ts';
import { internalRequest, listenMethod, methodNotFound, type Refusal } from '../../../mcp/building-blocks.ts';
import type { Answer, JsonRpcError, Message, RequestMessage } from '../../../mcp/protocol.ts';
import { errorCodes } from '../../../oauth/mcp-error-codes.ts';
import { namesModern } from '../../modern/eras.ts';
import type { ModernFailure, ModernHearing } from '../../modern/modern-link.ts';
import { type BackendFailure, backendError, failureOfAnswer } from '../backend-errors.ts';
import type { StdioProcess } from './stdio-process.ts';
import {
  type ProcessEnd,
  type ProcessProtocol,
  SupervisedProcess,
  type SupervisionOptions,
} from './supervised-process.ts';

/** Options of the processes of 2026-07-28 that some callers share. */
interface ModernProcessOptions extends SupervisionOptions {
  /** Milliseconds that a process may take to respond to `server/discover`. */
  startMs: number;
  /** Returns a process that was started for the same callers, and has rejected `initialize`, if there is one. */
  adopt(): StdioProcess | undefined;
  servesEverybody: boolean;
  /** Returns true if it is known that the program speaks 2026-07-28. */
  isKnown(): boolean;
  /** Called when no process runs any more, and no request waits for one. */
  ended(): void;
}

/** Milliseconds that a program gets for a request that it may not know, before it is pinged. */
const patienceMs = 2_000;

/** Milliseconds after the response to that ping until the request counts as not understood. */
const graceMs = 500;

/** Milliseconds that a program of an older revision is kept for a caller that sends `initialize`. */
const parkMs = 2_000;

/** Ids of requests of the gateway itself; those on the link are numbers. */
export const discoverId = 'gatehouse-discover';
const pingId = 'gatehouse-ping';
const aliveId = 'gatehouse-alive';

/** HTTP statuses of errors that are about the request. */
const statuses = new Map<number, number>([
  [errorCodes.methodNotFound, 404],
  [errorCodes.headerMismatch, 400],
  [errorCodes.missingRequiredClientCapability, 400],
  [errorCodes.unsupportedProtocolVersion, 400],
]);

/** A process for a caller that sends `initialize`. */
export interface AdoptableProcess {
  process: StdioProcess;
  /** True if it has answered `server/discover` like a program of an older revision. */
  saidOlder: boolean;
}

interface Running {
  request: RequestMessage;
  hearing: ModernHearing;
}

type Response = Message & { result?: Record<string, unknown>; error?: JsonRpcError };

/**
 * The supervised processes of 2026-07-28 that some callers share. The first request to a process is `server/discover`. A
 * program of an older revision is kept for a moment, for a caller that sends `initialize`.
 * @see MCP 2026-07-28 transports "stdio" (B1-06, B1-07, B1-08, B1-09)
 */
export class ModernProcess implements ProcessProtocol {
  readonly account: string;
  /** This revision has no `ping`, and every server answers `server/discover`. */
  readonly ping = { ...internalRequest('server/discover', {}), id: aliveId };
  readonly #options: ModernProcessOptions;
  readonly #supervised: SupervisedProcess;
  readonly #running = new InFlightMap<RequestId, Running>();
  /** True if the process was sent `initialize` before, so that its behaviour proves less than that of a new one. */
  #isAdopted = false;

  /** @param account owner of the processes */
  constructor(account: string, options: ModernProcessOptions) {
    this.account = account;
    this.#options = options;
    this.#supervised = new SupervisedProcess(account, this, options);
  }

  get isBusy(): boolean {
    return this.#running.values().some(({ request }) => request.method !== listenMethod);
  }

  get isListenedTo(): boolean {
    return this.#running.size > 0;
  }

  /**
   * Ends the process, because a credential of it changed: its running requests fail, and the next request starts another
   * process. One that is still starting is replaced at once, and its requests wait for the next.
   */
  replace(): void {
    if (this.#supervised.state === 'starting') this.#supervised.restartWhileStarting();
    else this.evict();
  }

  /**
   * Releases a process for a caller that sends `initialize`: one of an older revision, or one that has not responded for
   * some milliseconds, which counts as silent. Its place is free then.
   * @returns undefined if there is none
   */
  release(afterMs: number): AdoptableProcess | undefined {
    const { state, startedForMs } = this.#supervised;
    const isSilent = state === 'starting' && !this.#options.isKnown() && startedForMs >= afterMs;
    if (!isSilent && state !== 'parked') return undefined;
    const process = this.#supervised.release();
    this.#supervised.fail(isSilent ? 'backend_start_timed_out' : 'backend_ended');
    return !process || process.isGone ? undefined : { process, saidOlder: !isSilent };
  }

  /**
   * Sends a request.
   * @returns cancels it
   */
  send(request: RequestMessage, hearing: ModernHearing): () => void {
    const { id } = request;
    this.#supervised.used();
    this.#running.set(id, { request, hearing });
    const refusal = this.#supervised.ensureStarted() ?? this.#supervised.send(request);
    // Asynchronous, like the response of a server.
    if (refusal) queueMicrotask(() => this.#reject(id, { error: refusal, isBroken: false, isOther: false }));
    return () => this.#cancel(id);
  }

  /** Stops for good: rejects the running requests, and those that are sent because of that. */
  async close(): Promise<void> {
    if (this.#supervised.state !== 'closed') {
      this.#supervised.stop('closed');
      const reason = 'backend_ended';
      this.ended({ error: backendError(reason, this.#options.name), reason, wasReady: false });
    }
    await this.#supervised.hasEnded();
  }

  startMs(): number {
    return this.#options.startMs;
  }

  adopt(): StdioProcess | undefined {
    return this.#options.adopt();
  }

  starting({ isAdopted }: { isAdopted: boolean }): void {
    this.#isAdopted = isAdopted;
  }

  greet(process: StdioProcess): void {
    process.write({ ...internalRequest('server/discover', {}), id: discoverId });
    // A program that ignores unknown requests answers this one, which is part of all older revisions.
    if (!this.#options.isKnown())
      this.#supervised.duringStart(patienceMs, () =>
        process.write({ jsonrpc: '2.0', id: pingId, method: 'ping' }),
      );
  }

  startTimedOut(): void {
    this.#supervised.fail('backend_start_timed_out');
  }

  notStarted(): void {
    // Some programs of older revisions end at a first message that is not `initialize`.
    if (this.#options.isKnown() && !this.#isAdopted) this.#supervised.fail('backend_not_started');
    else this.#isOlder();
  }

  take(message: Response): void {
    const { id, method } = message;
    if (method === undefined && id === aliveId) this.#supervised.pingAnswered();
    else if (method === undefined) this.#takeResponse(message);
    else if (!this.#supervised.countUnasked().passes) return;
    else if (id === undefined) this.#takeNotification(message);
    // This revision has no requests of servers (B1-07). A program that speaks older ones, too, may wait for a response.
    else
      this.#supervised.write({
        ...{ jsonrpc: '2.0', id },
        ...(method === 'ping' ? { result: {} } : { error: methodNotFound }),
      });
  }

  takeUnreadable({ id, reason: refused }: Refusal): void {
    this.#supervised.countUnasked();
    // No request was sent before the process is ready.
    if (id === undefined || this.#supervised.state !== 'ready') return;
    const reason = failureOfAnswer(refused);
    const error = backendError(reason, this.#options.name);
    this.#reject(id, { error, isBroken: false, isOther: false, detail: { reason } });
  }

  takeTooLong(): void {
    const reason = 'backend_answer_too_large';
    const error = backendError(reason, this.#options.name);
    for (const id of this.#running.keys())
      if (this.#running.get(id)?.request.method !== listenMethod)
        this.#reject(id, { error, isBroken: false, isOther: false, detail: { reason } });
  }

  evict(): void {
    this.#supervised.fail('backend_ended');
  }

  /** A process that does not know `server/discover` has not failed: it may answer `initialize` (see `Eras`). */
  isExcused(reason: BackendFailure): boolean {
    const { state, process } = this.#supervised;
    if (state === 'parked') return true;
    if (reason === 'backend_start_timed_out') return !this.#options.isKnown();
    return reason === 'backend_ended' && !process?.isGone;
  }

  stopped(): void {}

  ended({ error, reason, wasReady }: ProcessEnd): void {
    this.#rejectAll({ error, isBroken: wasReady, isOther: false, ...(reason && { detail: { reason } }) });
    if (this.#running.size === 0) this.#options.ended();
  }

  #cancel(id: RequestId): void {
    if (!this.#running.delete(id)) return;
    if (!this.#supervised.unqueue(id) && this.#supervised.state === 'ready')
      this.#supervised.write({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id },
      });
    this.#supervised.used();
  }

  #discovered(): void {
    this.#options.pings.isAnswered = true;
    this.#supervised.becomeReady();
    this.#supervised.flush();
  }

  /** The program does not speak 2026-07-28: a caller of the older revisions may use the process, if it still runs (B1-09). */
  #isOlder(): void {
    if (this.#isAdopted) {
      this.replace();
      return;
    }
    const error = backendError('backend_not_started', this.#options.name);
    const isGone = this.#supervised.process?.isGone !== false;
    if (isGone) this.#supervised.stop();
    else this.#supervised.park(parkMs);
    this.#rejectAll({ error, isBroken: false, isOther: true });
    if (isGone && this.#running.size === 0) this.#options.ended();
  }

  #reject(id: RequestId, failure: ModernFailure): void {
    const running = this.#running.get(id);
    if (!running) return;
    this.#running.delete(id);
    this.#supervised.used();
    running.hearing.failed(failure);
  }

  #rejectAll(failure: ModernFailure): void {
    for (const id of this.#running.keys()) this.#reject(id, failure);
  }

  #takeResponse(response: Response): void {
    const { id, result, error } = response;
    if (this.#supervised.state === 'starting') {
      if (id === discoverId) {
        if (namesModern(response)) this.#discovered();
        else this.#isOlder();
      } else if (id === pingId) this.#supervised.duringStart(graceMs, () => this.#isOlder());
      return;
    }
    const running = id === undefined ? undefined : this.#running.get(id);
    if (id === undefined || !running) return;
    this.#running.delete(id);
    this.#supervised.requestAnswered();
    this.#supervised.used();
    const answer: Answer = error
      ? { status: statuses.get(error.code) ?? 200, error }
      : { status: 200, result: Object(result) };
    running.hearing.answered(answer);
  }

  #takeNotification(notification: Message): void {
    const { method, params = {} } = notification;
    const { _meta: meta, progressToken, requestId } = params;
    const subscription = (Object(meta) as Record<string, unknown>)[SUBSCRIPTION_ID_META_KEY];
    // A server may end a subscription so (C5-02).
    if (method === 'notifications/cancelled') {
      const running = this.#running.get(requestId as RequestId);
      if (running?.request.method === listenMethod)
        this.#reject(requestId as RequestId, {
          error: backendError('backend_ended', this.#options.name),
          isBroken: true,
          isOther: false,
        });
      return;
    }
    const about =
      method === 'notifications/progress'
        ? this.#running.get(progressToken as RequestId)
        : method === 'notifications/message'
          ? this.#onlyOneWithLog()
          : this.#running.get(subscription as RequestId);
    about?.hearing.notified(notification);
  }

  /**
   * Finds the request that a log message belongs to. A log message does not name it: if several requests want a log, the
   * message is for none (T-127), and that of a process that serves everybody may be about anybody (T-158).
   */
  #onlyOneWithLog(): Running | undefined {
    if (this.#options.servesEverybody) return undefined;
    const [one, another] = this.#running
      .values()
      .filter(({ request }) => Object(request.params?._meta)[LOG_LEVEL_META_KEY] !== undefined);
    return another ? undefined : one;
  }
}
