import type { RequestId } from '@modelcontextprotocol/server';
import { isRefusal, type Refusal, readLineOfServer, sentNote } from '../../../mcp/building-blocks.ts';
import type { JsonRpcError, Message, RequestMessage } from '../../../mcp/protocol.ts';
import { type BackendFailure, backendError, restartingError } from '../backend-errors.ts';
import { Heartbeat } from '../heartbeat.ts';
import { OutputRateLimiter } from '../output-rate-limiter.ts';
import type { Restarts } from '../restarts.ts';
import type { PooledProcess, ProcessPool } from './process-pool.ts';
import type { StdioProcess } from './stdio-process.ts';

/** Starts a process; or returns the error for an account that gets none. */
export type Launch = () => Promise<StdioProcess | { error: JsonRpcError }>;

/** Options of a supervised process, whatever its protocol. */
export interface SupervisionOptions {
  /** Name of the backend. */
  name: string;
  pool: ProcessPool;
  restarts: Restarts;
  /** Milliseconds of silence until a process is pinged; 0 for never. */
  pingMs: number;
  /** See `HeartbeatOptions`. */
  pings: { isAnswered: boolean };
  launch: Launch;
  nowMs: () => number;
}

/**
 * State of the supervision.
 * - `stopped`: no process runs. The next request starts one.
 * - `starting`: a process was launched, or will be, and its handshake is not complete. Requests wait in a queue.
 * - `ready`: the process serves requests.
 * - `parked`: the process speaks another revision. It is kept for a moment for a caller of that revision.
 * - `closed`: no process is started any more.
 */
export type ProcessState = 'stopped' | 'starting' | 'ready' | 'parked' | 'closed';

/** The end of a process, or of an attempt to start one. */
export interface ProcessEnd {
  /** Error for each request that runs or waits. */
  error: JsonRpcError;
  /** Absent if the process did not fail: its account gets none, or it was replaced. */
  reason?: BackendFailure;
  /** True if the process had completed its handshake. */
  wasReady: boolean;
}

/** Protocol of a supervised process: the handshake, the messages, and the requests that wait for responses. */
export interface ProcessProtocol {
  /** True while requests run that keep the process from being idle. */
  readonly isBusy: boolean;
  /** True if a client waits for messages that the process sends by itself: it is in use, though idle. */
  readonly isListenedTo: boolean;
  /** A request that every process of this protocol answers. */
  readonly ping: object;
  /** Returns the longest time that the next start may take, in milliseconds. */
  startMs(): number;
  /** Returns a running process of the other protocol that can be used in place of a new one, if there is one. */
  adopt(): StdioProcess | undefined;
  /** A start begins. */
  starting(start: { startMs: number; isAdopted: boolean }): void;
  /** A process was launched or adopted: begins the handshake. */
  greet(process: StdioProcess): void;
  startTimedOut(startMs: number): void;
  /** The process ended, or was found to be useless, before it was ready. */
  notStarted(): void;
  take(message: Message): void;
  /** Takes note of a line that is no MCP message, or one beyond the limits. */
  takeUnreadable(refusal: Refusal, bytes: number): void;
  /** The process wrote a line that is too long. Its response is lost, and nobody knows whose it was. */
  takeTooLong(): void;
  /** Its place is needed, or it was idle for too long: stops the process. */
  evict(): void;
  /** Returns true if a failure does not delay the next start. */
  isExcused(reason: BackendFailure): boolean;
  /** The process was stopped, or handed over. */
  stopped(): void;
  /** Rejects the requests that run or wait; called after {@link stopped}. */
  ended(end: ProcessEnd): void;
}

/**
 * Supervises a program, one process at a time: starts it for the first request, and again if it is requested after a
 * crash, an eviction or an idle time, or after a credential of it changed. All that is equal for the protocol revisions is
 * here; a {@link ProcessProtocol} adds the handshake and the requests. If a process ends, its running and waiting requests
 * fail at once (`ended`), and none is sent again; those of a process that is replaced while it starts wait for the next.
 * Only a session with subscriptions is started again without a request.
 */
export class SupervisedProcess implements PooledProcess {
  readonly account: string;
  readonly #protocol: ProcessProtocol;
  readonly #options: SupervisionOptions;
  readonly #queue = new StartQueue();
  /** Note the sending of queued requests, for the records of their calls. */
  readonly #noteSent = new WeakMap<RequestMessage, () => void>();
  readonly #limiter: OutputRateLimiter;
  readonly #heartbeat: Heartbeat;
  #state: ProcessState = 'stopped';
  #process: StdioProcess | undefined;
  #start: ProcessStart | undefined;
  #parkTimer: NodeJS.Timeout | undefined;
  #usedAtMs: number;
  #startedAtMs = 0;
  #readySinceMs = 0;
  #ending: Promise<void> | undefined;

  /** @param account owner of the processes */
  constructor(account: string, protocol: ProcessProtocol, options: SupervisionOptions) {
    this.account = account;
    this.#protocol = protocol;
    this.#options = options;
    this.#usedAtMs = options.nowMs();
    this.#limiter = new OutputRateLimiter(options.nowMs);
    this.#heartbeat = new Heartbeat({
      everyMs: options.pingMs,
      known: options.pings,
      isBusy: () => protocol.isBusy,
      ping: () => this.write(protocol.ping),
      dead: () => this.fail('backend_unresponsive'),
      nowMs: options.nowMs,
    });
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** The current process, if there is one. */
  get process(): StdioProcess | undefined {
    return this.#process;
  }

  /** Milliseconds since the current start began. */
  get startedForMs(): number {
    return this.#options.nowMs() - this.#startedAtMs;
  }

  get idleSinceMs(): number | undefined {
    // Perhaps no caller comes for a parked process, so its place is free for everybody.
    if (this.#state === 'parked') return Number.NEGATIVE_INFINITY;
    return this.#protocol.isBusy ? undefined : this.#usedAtMs;
  }

  get isListenedTo(): boolean {
    // A parked process is kept for a time of its own.
    return this.#state === 'parked' || this.#protocol.isListenedTo;
  }

  evict(): void {
    this.#protocol.evict();
  }

  /** Takes note of a use: the idle time begins anew. */
  used(): void {
    this.#usedAtMs = this.#options.nowMs();
  }

  /**
   * Starts a process if none runs.
   * @returns the reason if none will run
   */
  ensureStarted(): JsonRpcError | undefined {
    const { name, restarts, pool } = this.#options;
    if (this.#state === 'closed') return backendError('backend_ended', name);
    // The program may be another one by now.
    if (this.#state === 'parked') this.restartWhileStarting();
    if (this.#state !== 'stopped') return undefined;
    const delay = restarts.waiting(this.account);
    if (delay) return restartingError(delay.reason, name, delay.waitMs);
    // Before the place is taken, because this process has just left the place that may be the only one.
    const adopted = this.#protocol.adopt();
    const refusal = pool.take(this);
    if (refusal) void adopted?.end();
    else this.#begin(adopted);
    return refusal;
  }

  /**
   * Sends a request; until the process is ready, the request waits.
   * @returns the reason if it cannot be sent
   */
  send(request: RequestMessage): JsonRpcError | undefined {
    const noteSent = sentNote(request);
    if (this.#state !== 'ready') {
      if (noteSent) this.#noteSent.set(request, noteSent);
      return this.#queue.push(request) ? undefined : this.#notReading();
    }
    if (this.#process?.isStuck) return this.#notReading();
    this.#heartbeat.asked();
    noteSent?.();
    this.write(request);
    return undefined;
  }

  /** Writes a message to the process, if one runs. */
  write(message: unknown): void {
    this.#process?.write(message);
  }

  /** Returns true if a request waits for the process to be ready. */
  isQueued(id: RequestId): boolean {
    return this.#queue.has(id);
  }

  /** Removes a waiting request. @returns false if it does not wait */
  unqueue(id: RequestId): boolean {
    return this.#queue.remove(id);
  }

  /** Puts a request before those that wait, unless it is one of them. */
  queueFirst(request: RequestMessage): void {
    if (this.#queue.has(request.id)) return;
    const waiting = this.#queue.takeAll();
    for (const queued of [request, ...waiting]) this.#queue.push(queued);
  }

  /** Writes the waiting requests to the process. */
  flush(): void {
    for (const request of this.#queue.takeAll()) {
      this.#noteSent.get(request)?.();
      this.write(request);
    }
  }

  /** Runs an action after some milliseconds, unless the start is over by then. */
  duringStart(ms: number, act: () => void): void {
    this.#start?.after(ms, act);
  }

  /** The handshake is complete. */
  becomeReady(): void {
    this.#start?.over();
    this.#state = 'ready';
    this.#readySinceMs = this.#options.nowMs();
    this.#heartbeat.start();
  }

  /** Takes note of the response to a ping. */
  pingAnswered(): void {
    this.#heartbeat.answered();
  }

  /** Takes note of the response to a request. */
  requestAnswered(): void {
    this.#limiter.answer();
  }

  /**
   * Counts a message that the process sent by itself, and stops reading its output for a while if there are far too many.
   * @returns `passes`: the message may be used; `isFirstDropped`: it is the first of its second that may not
   */
  countUnasked(): { passes: boolean; isFirstDropped: boolean } {
    const { passes, isFirstDropped, pauseMs } = this.#limiter.take();
    if (pauseMs > 0) this.#process?.pauseReading(pauseMs);
    return { passes, isFirstDropped };
  }

  /** Ends a process that is starting, and starts another. Waiting requests stay. */
  restartWhileStarting(startMs?: number): void {
    this.#start?.over();
    clearTimeout(this.#parkTimer);
    this.#endProcess();
    this.#begin(undefined, startMs);
  }

  /** Keeps a process of another revision for some milliseconds, for a caller of that revision. */
  park(forMs: number): void {
    this.#state = 'parked';
    this.#start?.over();
    this.#queue.takeAll();
    this.#parkTimer = setTimeout(() => this.evict(), forMs).unref();
  }

  /** Removes the running process from the supervision. The caller must {@link stop} or {@link fail} what remains. */
  release(): StdioProcess | undefined {
    const released = this.#process;
    this.#process = undefined;
    return released;
  }

  /** The process failed: stops it, rejects the requests, and delays the next start. */
  fail(reason: BackendFailure): void {
    const { name, restarts } = this.#options;
    if (this.#state === 'closed' || this.#state === 'stopped') return;
    const wasReady = this.#state === 'ready';
    if (!this.#protocol.isExcused(reason))
      restarts.failed(this.account, {
        reason,
        begunMs: this.#startedAtMs,
        ...(wasReady && { stoodMs: this.#options.nowMs() - this.#readySinceMs }),
      });
    this.stop();
    this.#protocol.ended({ error: backendError(reason, name), reason, wasReady });
  }

  /** Stops the process, and rejects the requests with an error that is no failure of the process. */
  end(error: JsonRpcError): void {
    this.stop();
    this.#protocol.ended({ error, wasReady: false });
  }

  /** Stops the process, if there is one, and empties the queue. The caller rejects the requests: see {@link fail} and {@link end}. */
  stop(state: 'stopped' | 'closed' = 'stopped'): void {
    if (this.#state === 'closed') return;
    this.#state = state;
    this.#heartbeat.stop();
    this.#start?.over();
    clearTimeout(this.#parkTimer);
    this.#queue.takeAll();
    this.#options.pool.leave(this);
    this.#endProcess();
    this.#protocol.stopped();
  }

  /** Resolves when the last stopped process has ended. */
  async hasEnded(): Promise<void> {
    await this.#ending;
  }

  #begin(adopted?: StdioProcess, startMs = this.#protocol.startMs()): void {
    this.#state = 'starting';
    this.#startedAtMs = this.#options.nowMs();
    this.#start = new ProcessStart(adopted ? async () => adopted : this.#options.launch, {
      launched: (process) => this.#attach(process),
      refused: (error) => this.end(error),
      failed: () => this.fail('backend_not_started'),
    });
    this.#start.after(startMs, () => this.#protocol.startTimedOut(startMs));
    this.#protocol.starting({ startMs, isAdopted: adopted !== undefined });
  }

  #attach(process: StdioProcess): void {
    this.#process = process;
    process.listener = {
      line: (bytes) => this.#hear(bytes),
      tooLong: () => this.#protocol.takeTooLong(),
      gone: () => this.#gone(),
    };
    // An adopted process may have ended before it had this listener.
    if (process.isGone) this.#gone();
    else this.#protocol.greet(process);
  }

  #gone(): void {
    if (this.#state === 'starting') this.#protocol.notStarted();
    else this.fail('backend_ended');
  }

  #hear(bytes: Uint8Array): void {
    if (this.#process?.isFramed && this.#state === 'starting') {
      this.fail('backend_framing');
      return;
    }
    const messages = readLineOfServer(bytes, this.#process?.maxLineValues);
    if (messages === undefined) return;
    this.#heartbeat.heard();
    if (isRefusal(messages)) this.#protocol.takeUnreadable(messages, bytes.length);
    else for (const message of messages.list) this.#protocol.take(message);
  }

  #endProcess(): void {
    if (this.#process) this.#ending = this.#process.end();
    this.#process = undefined;
  }

  #notReading(): JsonRpcError {
    return backendError('backend_not_reading', this.#options.name);
  }
}

/** Takes the result of a start, as long as the start is not over. */
interface StartListener {
  /** The program was launched; it has not answered yet. */
  launched(process: StdioProcess): void;
  /** This account gets no process. */
  refused(error: JsonRpcError): void;
  /** The program could not be launched. */
  failed(): void;
}

/**
 * One start of a process. When it is over, because the process is ready or nobody needs it any more, no result is reported,
 * no timer fires, and a process that is launched too late is ended.
 */
export class ProcessStart {
  readonly #timers: NodeJS.Timeout[] = [];
  #isOver = false;

  /** Launches the program at once. */
  constructor(launch: Launch, listener: StartListener) {
    launch().then(
      (launched) => {
        if ('error' in launched) {
          if (!this.#isOver) listener.refused(launched.error);
        } else if (this.#isOver) void launched.end();
        else listener.launched(launched);
      },
      () => {
        if (!this.#isOver) listener.failed();
      },
    );
  }

  /** Runs an action after some milliseconds, unless the start is over by then. */
  after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms).unref());
  }

  over(): void {
    this.#isOver = true;
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }
}

/** Maximum length of all waiting requests, in characters. */
const maxQueued = 16 * 1024 * 1024;

/** A bounded queue of the requests that wait for a process to be ready, in the order of their arrival (T-156). */
export class StartQueue {
  #waiting: { request: RequestMessage; length: number }[] = [];
  #length = 0;

  /** @returns false if the queue is full */
  push(request: RequestMessage): boolean {
    const { length } = JSON.stringify(request);
    if (this.#length + length > maxQueued) return false;
    this.#waiting.push({ request, length });
    this.#length += length;
    return true;
  }

  has(id: RequestId): boolean {
    return this.#waiting.some(({ request }) => request.id === id);
  }

  /** @returns false if the request does not wait */
  remove(id: RequestId): boolean {
    const at = this.#waiting.findIndex(({ request }) => request.id === id);
    const [removed] = at < 0 ? [] : this.#waiting.splice(at, 1);
    this.#length -= removed?.length ?? 0;
    return removed !== undefined;
  }

  /** Removes and returns all requests. */
  takeAll(): RequestMessage[] {
    this.#length = 0;
    return this.#waiting.splice(0).map(({ request }) => request);
  }
}
