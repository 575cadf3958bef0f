import { LOG_LEVEL_META_KEY, type RequestId, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import {
  internalRequest,
  isRefusal,
  listenMethod,
  methodNotFound,
  type Refusal,
  readLineOfServer,
} from '../../mcp/building-blocks.ts';
import type { Answer, JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { type BackendFailure, backendError, restartingError } from '../backends/backend-errors.ts';
import { failureOfAnswer } from '../backends/failure-of-answer.ts';
import { Flood } from '../backends/flood.ts';
import { Heartbeat } from '../backends/heartbeat.ts';
import type { Occupant, Places } from '../backends/places.ts';
import { ProcessStart } from '../backends/process-start.ts';
import type { Restarts } from '../backends/restarts.ts';
import { StartQueue } from '../backends/start-queue.ts';
import type { StdioProcess } from '../backends/stdio-process.ts';
import type { ModernFailure, ModernHearing } from './modern-link.ts';
import { namesModern } from './named-revisions.ts';

/** Parts of the processes that speak 2026-07-28. */
export interface ModernProcessOptions {
  /** Name of the backend. */
  name: string;
  /** Milliseconds that a process may take to respond to `server/discover`. */
  startMs: number;
  /** Milliseconds that an unused process is kept. */
  idleMs: number;
  /** Milliseconds of silence until a process is asked for a sign of life; 0 for never. */
  pingMs: number;
  /** See `HeartbeatOptions`. */
  pings: { isAnswered: boolean };
  places: Places;
  restarts: Restarts;
  /** Returns a process that was started for the same callers, and has refused `initialize`, if there is one. */
  takeOver(): StdioProcess | undefined;
  /** Starts a process; or says why this account gets none. */
  launch(): Promise<StdioProcess | { error: JsonRpcError }>;
  servesEverybody: boolean;
  /** Returns true if it is known that the program speaks 2026-07-28. */
  isKnown(): boolean;
  /** Called when there is no process any more, and nothing waits for one. */
  ended(): void;
  nowMs: () => number;
}

/** Milliseconds that a program gets for a request that it may not know, before it is pinged. */
const patienceMs = 2_000;

/** Milliseconds after its answer to the ping until the request counts as not understood. */
const graceMs = 500;

/** Milliseconds that a program of an older revision is kept for a caller that sends `initialize`. */
const handOverMs = 2_000;

/** Ids of what we ask ourselves; those on the link are numbers. */
export const discoverId = 'gatehouse-discover';
const pingId = 'gatehouse-ping';
const aliveId = 'gatehouse-alive';

/** Statuses of errors that are about the request, as over HTTP. */
const statuses = new Map<number, number>([
  [errorCodes.methodNotFound, 404],
  [errorCodes.headerMismatch, 400],
  [errorCodes.missingRequiredClientCapability, 400],
  [errorCodes.unsupportedProtocolVersion, 400],
]);

/** A process that is given to who asks it `initialize`. */
export interface GivenProcess {
  process: StdioProcess;
  /** True if it has answered `server/discover` as a program of an older revision does. */
  saidOlder: boolean;
}

interface Waiting {
  request: RequestMessage;
  hearing: ModernHearing;
}

/**
 * The processes of one owner that speak 2026-07-28, one at a time: started when there is something to ask, asked
 * `server/discover` first, and again when it is asked after one ended. A program of an older revision is kept only until
 * somebody asks it `initialize`.
 * @see MCP 2026-07-28 transports "stdio" (B1-06, B1-07, B1-08, B1-09)
 */
export class ModernProcess implements Occupant {
  readonly account: string;
  readonly #options: ModernProcessOptions;
  readonly #flood: Flood;
  readonly #waiting = new InFlightMap<RequestId, Waiting>();
  readonly #queue = new StartQueue();
  readonly #heartbeat: Heartbeat;
  /** `older`: it has answered as a program of an older revision does. */
  #state: 'asleep' | 'starting' | 'ready' | 'older' | 'closed' = 'asleep';
  #process: StdioProcess | undefined;
  #start: ProcessStart | undefined;
  /** True if it was asked `initialize` before, so that what it does now says less than what a new one does. */
  #isTakenOver = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #usedAtMs: number;
  #begunMs = 0;
  #readySinceMs = 0;
  #ending: Promise<void> | undefined;

  /** @param account whose processes they are */
  constructor(account: string, options: ModernProcessOptions) {
    this.account = account;
    this.#options = options;
    this.#usedAtMs = options.nowMs();
    this.#flood = new Flood(options.nowMs);
    this.#heartbeat = new Heartbeat({
      everyMs: options.pingMs,
      known: options.pings,
      isBusy: () => this.idleSinceMs === undefined,
      // This revision has no pings; each server answers this.
      ping: () => this.#process?.write({ ...internalRequest('server/discover', {}), id: aliveId }),
      dead: () => this.#fail('backend_unresponsive'),
      nowMs: options.nowMs,
    });
  }

  get idleSinceMs(): number | undefined {
    // Nobody may come for it: whoever needs its place gets it.
    if (this.#state === 'older') return Number.NEGATIVE_INFINITY;
    const isAsked = this.#waiting.values().some(({ request }) => request.method !== listenMethod);
    return isAsked ? undefined : this.#usedAtMs;
  }

  get isListenedTo(): boolean {
    // One of an older revision has a time of its own in which somebody may come for it.
    return this.#waiting.size > 0 || this.#state === 'older';
  }

  giveWay(): void {
    this.#fail('backend_ended');
  }

  /** Its configuration is outdated. A process that has not begun yet is replaced at once. */
  startAnew(): void {
    if (this.#state !== 'starting') {
      this.giveWay();
      return;
    }
    this.#beginAgain();
  }

  /**
   * Hands over a process that responded as an older one does, or that has not responded for some milliseconds, for
   * `initialize`. Here its place is free, and one that said nothing counts as silent.
   * @returns undefined if there is none
   */
  giveAway(afterMs: number): GivenProcess | undefined {
    const { isKnown, nowMs } = this.#options;
    const isSilent = this.#state === 'starting' && !isKnown() && nowMs() - this.#begunMs >= afterMs;
    if (!isSilent && this.#state !== 'older') return undefined;
    const given = this.#process;
    this.#process = undefined;
    this.#fail(isSilent ? 'backend_start_timed_out' : 'backend_ended');
    return !given || given.isGone ? undefined : { process: given, saidOlder: !isSilent };
  }

  /**
   * Sends a request.
   * @returns cancels it
   */
  send(request: RequestMessage, hearing: ModernHearing): () => void {
    const { id } = request;
    this.#usedAtMs = this.#options.nowMs();
    clearTimeout(this.#idleTimer);
    this.#waiting.set(id, { request, hearing });
    const refusal = this.#checkReady() ?? this.#hand(request);
    // Who asks hears nothing before it has asked.
    if (refusal) queueMicrotask(() => this.#failOne(id, { error: refusal, isBroken: false, isOther: false }));
    return () => this.#cancel(id);
  }

  /** Ends it for good; what runs is answered with an error, and so is what is sent because of that. */
  async close(): Promise<void> {
    const reason = 'backend_ended';
    const error = backendError(reason, this.#options.name);
    if (this.#state !== 'closed')
      this.#end({ error, isBroken: false, isOther: false, detail: { reason } }, 'closed');
    await this.#ending;
  }

  /** @returns why there will be no process */
  #checkReady(): JsonRpcError | undefined {
    const { name, restarts, places, takeOver } = this.#options;
    if (this.#state === 'closed') return backendError('backend_ended', name);
    // It may be another one by now.
    if (this.#state === 'older') this.#beginAgain();
    if (this.#state !== 'asleep') return undefined;
    const waiting = restarts.waiting(this.account);
    if (waiting) return restartingError(waiting.reason, name, waiting.waitMs);
    // First, as it has held the place that may be the only one.
    const given = takeOver();
    const refusal = places.take(this);
    if (refusal) void given?.end();
    else this.#wake(given);
    return refusal;
  }

  #hand(request: RequestMessage): JsonRpcError | undefined {
    const { name } = this.#options;
    if (this.#state === 'ready') {
      if (this.#process?.isStuck) return backendError('backend_not_reading', name);
      this.#heartbeat.asked();
      this.#process?.write(request);
      return undefined;
    }
    return this.#queue.push(request) ? undefined : backendError('backend_not_reading', name);
  }

  #cancel(id: RequestId): void {
    if (!this.#waiting.delete(id)) return;
    if (!this.#queue.remove(id) && this.#state === 'ready')
      this.#process?.write({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id },
      });
    this.#rest();
  }

  /** @param given what is to be used in place of a new process */
  #wake(given?: StdioProcess): void {
    const { launch, startMs, nowMs } = this.#options;
    this.#state = 'starting';
    this.#isTakenOver = given !== undefined;
    this.#begunMs = nowMs();
    this.#start = new ProcessStart(given ? async () => given : launch, {
      launched: (process) => this.#begin(process),
      refused: (error) => this.#end({ error, isBroken: false, isOther: false }),
      failed: () => this.#fail('backend_not_started'),
    });
    this.#start.after(startMs, () => this.#fail('backend_start_timed_out'));
  }

  #beginAgain(): void {
    this.#start?.over();
    if (this.#process) this.#ending = this.#process.end();
    this.#process = undefined;
    this.#wake();
  }

  #begin(process: StdioProcess): void {
    this.#process = process;
    process.listener = {
      line: (bytes) => this.#hear(bytes),
      tooLong: () => this.#heardTooMuch(),
      gone: () => this.#gone(),
    };
    process.write({ ...internalRequest('server/discover', {}), id: discoverId });
    // A program that drops what it does not know answers this one, which is of all older revisions.
    if (!this.#options.isKnown())
      this.#start?.after(patienceMs, () => process.write({ jsonrpc: '2.0', id: pingId, method: 'ping' }));
  }

  #gone(): void {
    if (this.#state !== 'starting') this.#fail('backend_ended');
    // Some programs end at a first message that is not `initialize`.
    else if (this.#options.isKnown() && !this.#isTakenOver) this.#fail('backend_not_started');
    else this.#isOther();
  }

  #discovered(): void {
    this.#start?.over();
    this.#state = 'ready';
    this.#readySinceMs = this.#options.nowMs();
    this.#options.pings.isAnswered = true;
    this.#heartbeat.start();
    for (const request of this.#queue.takeAll()) this.#process?.write(request);
    this.#rest();
  }

  /** It does not speak 2026-07-28: who speaks the older revisions asks the same process on, if it is still there (B1-09). */
  #isOther(): void {
    if (this.#isTakenOver) {
      this.startAnew();
      return;
    }
    const error = backendError('backend_not_started', this.#options.name);
    const failure: ModernFailure = { error, isBroken: false, isOther: true };
    if (this.#process?.isGone !== false) {
      this.#end(failure);
      return;
    }
    this.#state = 'older';
    this.#start?.over();
    this.#queue.takeAll();
    this.#idleTimer = setTimeout(() => this.giveWay(), handOverMs).unref();
    for (const id of this.#waiting.keys()) this.#failOne(id, failure);
  }

  #fail(reason: BackendFailure): void {
    const { name, restarts, nowMs } = this.#options;
    if (this.#state === 'closed' || this.#state === 'asleep') return;
    const wasReady = this.#state === 'ready';
    // One that was asked in vain what it may not know has not failed: it may answer `initialize` (see Eras).
    const isUnasked =
      (reason === 'backend_start_timed_out' && !this.#options.isKnown()) || this.#state === 'older';
    if (!isUnasked && (reason !== 'backend_ended' || this.#process?.isGone))
      restarts.failed(this.account, {
        reason,
        begunMs: this.#begunMs,
        ...(wasReady && { stoodMs: nowMs() - this.#readySinceMs }),
      });
    this.#end({
      error: backendError(reason, name),
      isBroken: wasReady,
      isOther: false,
      detail: { reason },
    });
  }

  /**
   * Ends the process, and answers all that waits.
   * @param state in which who is answered finds it
   */
  #end(failure: ModernFailure, state: 'asleep' | 'closed' = 'asleep'): void {
    this.#state = state;
    this.#heartbeat.stop();
    this.#start?.over();
    clearTimeout(this.#idleTimer);
    this.#queue.takeAll();
    this.#options.places.leave(this);
    if (this.#process) this.#ending = this.#process.end();
    this.#process = undefined;
    for (const id of this.#waiting.keys()) this.#failOne(id, failure);
    if (this.#waiting.size === 0) this.#options.ended();
  }

  #failOne(id: RequestId, failure: ModernFailure): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    waiting.hearing.failed(failure);
    this.#rest();
  }

  /** If nobody asks or listens, it ends after a while. */
  #rest(): void {
    if (this.#waiting.size > 0 || this.#state !== 'ready') return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#waiting.size === 0) this.giveWay();
    }, this.#options.idleMs).unref();
  }

  #hear(bytes: Uint8Array): void {
    if (this.#process?.isFramed && this.#state === 'starting') {
      this.#fail('backend_framing');
      return;
    }
    const messages = readLineOfServer(bytes, this.#process?.maxLineValues);
    if (messages === undefined) return;
    this.#heartbeat.heard();
    if (isRefusal(messages)) this.#heardGarbage(messages);
    else for (const message of messages.list) this.#take(message);
  }

  #heardGarbage({ id, reason: refused }: Refusal): void {
    this.#mayPass();
    // Until it is ready nothing was asked of it.
    if (id === undefined || this.#state !== 'ready') return;
    const reason = failureOfAnswer(refused);
    const error = backendError(reason, this.#options.name);
    this.#failOne(id, { error, isBroken: false, isOther: false, detail: { reason } });
  }

  #take(message: Message & { result?: Record<string, unknown>; error?: JsonRpcError }): void {
    const { id, method } = message;
    if (method === undefined && id === aliveId) this.#heartbeat.answered();
    else if (method === undefined) this.#takeAnswer(message);
    else if (!this.#mayPass()) return;
    else if (id === undefined) this.#takeNotification(message);
    // This revision has no requests of servers (B1-07): a program that speaks older ones, too, may wait for an answer.
    else
      this.#process?.write({
        ...{ jsonrpc: '2.0', id },
        ...(method === 'ping' ? { result: {} } : { error: methodNotFound }),
      });
  }

  #takeAnswer({
    id,
    result,
    error,
  }: Message & { result?: Record<string, unknown>; error?: JsonRpcError }): void {
    if (this.#state === 'starting') {
      if (id === discoverId) {
        if (namesModern({ result, error })) this.#discovered();
        else this.#isOther();
      } else if (id === pingId) this.#start?.after(graceMs, () => this.#isOther());
      return;
    }
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return;
    this.#waiting.delete(id);
    this.#flood.answer();
    const answer: Answer = error
      ? { status: statuses.get(error.code) ?? 200, error }
      : { status: 200, result: Object(result) };
    waiting.hearing.answered(answer);
    this.#rest();
  }

  #takeNotification(notification: Message): void {
    const { method, params = {} } = notification;
    const { _meta: meta, progressToken, requestId } = params;
    const subscription = (Object(meta) as Record<string, unknown>)[SUBSCRIPTION_ID_META_KEY];
    // With this a server may end a subscription (C5-02).
    if (method === 'notifications/cancelled') {
      const waiting = this.#waiting.get(requestId as RequestId);
      if (waiting?.request.method === listenMethod)
        this.#failOne(requestId as RequestId, {
          error: backendError('backend_ended', this.#options.name),
          isBroken: true,
          isOther: false,
        });
      return;
    }
    const about =
      method === 'notifications/progress'
        ? this.#waiting.get(progressToken as RequestId)
        : method === 'notifications/message'
          ? this.#onlyOneWithLog()
          : this.#waiting.get(subscription as RequestId);
    about?.hearing.notified(notification);
  }

  /**
   * A log message does not say for which request it is: if several wait for theirs, it is for none (T-127). That of a
   * process that serves everybody may be about anybody (T-158).
   */
  #onlyOneWithLog(): Waiting | undefined {
    if (this.#options.servesEverybody) return undefined;
    const [one, another] = this.#waiting
      .values()
      .filter(({ request }) => Object(request.params?._meta)[LOG_LEVEL_META_KEY] !== undefined);
    return another ? undefined : one;
  }

  #mayPass(): boolean {
    const { passes, pauseMs } = this.#flood.take();
    if (pauseMs > 0) this.#process?.pauseReading(pauseMs);
    return passes;
  }

  /** It cannot be known whose answer the line was, so nobody waits for one any more; the process goes on. */
  #heardTooMuch(): void {
    const reason = 'backend_answer_too_large';
    const error = backendError(reason, this.#options.name);
    for (const id of this.#waiting.keys())
      if (this.#waiting.get(id)?.request.method !== listenMethod)
        this.#failOne(id, { error, isBroken: false, isOther: false, detail: { reason } });
  }
}
