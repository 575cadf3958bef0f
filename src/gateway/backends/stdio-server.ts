import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import {
  changesOfLists,
  isRefusal,
  type Refusal,
  readLineOfServer,
  StartProgress,
} from '../../mcp/building-blocks.ts';
import type { JsonRpcError, McpLike, Message, RequestMessage } from '../../mcp/protocol.ts';
import type { Logger } from '../../observability/logger.ts';
import { discoverId, type GivenProcess } from '../modern/modern-process.ts';
import type { LegacyStart } from '../modern/modern-source.ts';
import { namesModern } from '../modern/named-revisions.ts';
import { type BackendFailure, backendError, restartingError } from './backend-errors.ts';
import { failureOfAnswer } from './failure-of-answer.ts';
import type { Failures } from './failures.ts';
import { Flood } from './flood.ts';
import { Heartbeat } from './heartbeat.ts';
import { listsOf, withListChanges } from './list-changes.ts';
import type { Occupant, Places } from './places.ts';
import { ProcessStart } from './process-start.ts';
import type { Restarts } from './restarts.ts';
import { StartQueue } from './start-queue.ts';
import type { StdioProcess } from './stdio-process.ts';
import { Told } from './told.ts';
import { withoutCallerAuth } from './without-caller-auth.ts';

/** Parts of the MCP server in processes. */
export interface StdioServerOptions {
  /** Name of the backend. */
  name: string;
  start: LegacyStart;
  places: Places;
  restarts: Restarts;
  failures: Failures;
  /** Milliseconds of silence until a process is pinged; 0 for never. */
  pingMs: number;
  /** See `HeartbeatOptions`. */
  pings: { isAnswered: boolean };
  /**
   * Returns a process that was started for the same caller, has its place no more, and awaits `initialize`, if there is
   * one: all it was asked is what revisions it speaks.
   */
  takeOver(): GivenProcess | undefined;
  /** Starts a process; or says why this account gets none. */
  launch(): Promise<StdioProcess | { error: JsonRpcError }>;
  /** Called when it is closed for good. */
  onClose(): void;
  logger: Logger;
  nowMs: () => number;
}

/** Lines that are no messages, of which no more than these are told in the log. */
const maxToldLines = 5;

const late = 'a backend did not answer initialize in time';
const silentlyLate = `${late}, and wrote nothing to its standard error: a program that npx or the like has to download first may be waiting for the network, such as for a proxy or certificates that its env (--env) does not hand over; or it waits for Content-Length headers, as language servers do`;

/** Ids of what the server is asked by us; those of the front are numbers. */
const ownIds = 'gatehouse-';
const pingId = `${ownIds}ping`;

/**
 * An MCP server of a revision up to 2025-11-25, whose processes come and go: one is started when it is first asked, and
 * again when it is asked after one ended, was idle for long, or gave way. A new one is told all that the last was told,
 * so that its client goes on. Whatever goes wrong is an answer to the calls that run, at once (T-155, T-156).
 * @see MCP 2025-11-25 transports "stdio"
 */
export class StdioServer implements McpLike, Occupant {
  readonly account: string;
  readonly #options: StdioServerOptions;
  readonly #told = new Told();
  readonly #flood: Flood;
  readonly #progress: StartProgress;
  /** Requests that are not answered, with their methods. */
  readonly #waiting = new InFlightMap<RequestId, string>();
  /** Requests of the process to its client. */
  readonly #asked = new Set<RequestId>();
  readonly #queue = new StartQueue();
  readonly #heartbeat: Heartbeat;
  #transport: Transport | undefined;
  #process: StdioProcess | undefined;
  /** `ready`: it has answered initialize. */
  #state: 'asleep' | 'starting' | 'ready' | 'closed' = 'asleep';
  #start: ProcessStart | undefined;
  /** The front's own `initialize`, which goes to the first process as soon as there is one. */
  #opening: RequestMessage | undefined;
  /** True if its process has refused the front's `initialize`. */
  #isRefused = false;
  /** True if it has said before that it does not know `server/discover`: one that was not asked may do better. */
  #saidOlder = false;
  /** Time at which its start counts as failed. */
  #startEndsMs = 0;
  #wakeTimer: NodeJS.Timeout | undefined;
  #usedAtMs: number;
  #begunMs = 0;
  #readySinceMs = 0;
  #toldLines = 0;
  #ending: Promise<void> | undefined;

  /** @param account whose processes they are */
  constructor(account: string, options: StdioServerOptions) {
    this.account = account;
    this.#options = options;
    this.#usedAtMs = options.nowMs();
    this.#flood = new Flood(options.nowMs);
    this.#heartbeat = new Heartbeat({
      everyMs: options.pingMs,
      known: options.pings,
      isBusy: () => this.#waiting.size > 0,
      ping: () => this.#process?.write({ jsonrpc: '2.0', id: pingId, method: 'ping' }),
      dead: () => this.#lose('backend_unresponsive'),
      nowMs: options.nowMs,
    });
    this.#progress = new StartProgress(`The MCP server ${options.name} is starting.`, (notification) =>
      this.#send(notification),
    );
  }

  get idleSinceMs(): number | undefined {
    return this.#waiting.size > 0 ? undefined : this.#usedAtMs;
  }

  get isListenedTo(): boolean {
    return this.#told.hasSubscriptions;
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message) => this.#take(message as Message);
    await transport.start();
  }

  giveWay(): void {
    const { logger, name } = this.#options;
    logger.info({ backend: name, pid: this.#process?.pid }, 'an idle backend gave way');
    this.#sleep();
  }

  /**
   * Ends its process because what it was started with holds no more: the next request starts another. One that has not
   * begun yet was asked nothing, so that another begins in its place and nobody notices.
   */
  startAnew(): void {
    if (this.#state === 'ready') this.#refuse(backendError('backend_ended', this.#options.name));
    else if (this.#state === 'starting') this.#beginAgain();
  }

  /**
   * Hands over a process that has rejected `initialize`, for `server/discover`. Here the process counts as ended, and
   * its place is free.
   * @returns undefined if there is none
   */
  giveAway(): StdioProcess | undefined {
    if (!this.#isRefused) return undefined;
    const given = this.#process;
    this.#process = undefined;
    this.#sleep();
    return given;
  }

  async close(): Promise<void> {
    clearTimeout(this.#wakeTimer);
    this.#sleep();
    this.#state = 'closed';
    this.#options.onClose();
    await Promise.all([this.#transport?.close(), this.#ending]);
  }

  /** Takes a message of the front. */
  #take(message: Message): void {
    const { id, method } = message;
    if (this.#state === 'closed') return;
    this.#usedAtMs = this.#options.nowMs();
    this.#told.say(message);
    if (method === undefined) {
      if (this.#asked.delete(id as RequestId)) this.#process?.write(message);
    } else if (id === undefined) this.#notify(message);
    else {
      this.#waiting.set(id, method);
      const refusal = this.#checkReady() ?? this.#hand(message as RequestMessage);
      // Later, as the server would answer: who asks hears nothing before it has asked.
      if (refusal) queueMicrotask(() => this.#answerWith(id, refusal));
    }
  }

  #notify(message: Message): void {
    if (message.method === 'notifications/cancelled') {
      const id = message.params?.requestId as RequestId;
      if (!this.#waiting.delete(id)) return;
      this.#told.answered(id, false);
      this.#progress.remove(id);
      if (this.#queue.remove(id)) return;
    }
    if (this.#state === 'ready') this.#process?.write(withoutCallerAuth(message));
  }

  /**
   * Has a process started if there is none.
   * @returns why there will be none
   */
  #checkReady(): JsonRpcError | undefined {
    if (this.#state !== 'asleep') return undefined;
    const { name, restarts, places, takeOver } = this.#options;
    const waiting = restarts.waiting(this.account);
    if (waiting) return restartingError(waiting.reason, name, waiting.waitMs);
    // First, as it has held the place that may be the only one.
    const given = takeOver();
    const refusal = places.take(this);
    if (refusal) void given?.process.end();
    else this.#wake(given);
    return refusal;
  }

  #hand(request: RequestMessage): JsonRpcError | undefined {
    const { name } = this.#options;
    const passed = withoutCallerAuth(request);
    if (this.#state === 'ready') {
      if (this.#process?.isStuck) return backendError('backend_not_reading', name);
      this.#heartbeat.asked();
      this.#process?.write(passed);
      return undefined;
    }
    if (passed.method === 'initialize') this.#opening = passed;
    if (!this.#queue.push(passed)) return backendError('backend_not_reading', name);
    this.#progress.add(passed);
    return undefined;
  }

  /**
   * @param given what is to be used in place of a new process
   * @param startMs how long it may take until it is ready
   */
  #wake(given?: GivenProcess, startMs = this.#options.start.startMs()): void {
    const { launch, logger, name } = this.#options;
    this.#state = 'starting';
    this.#saidOlder = given?.saidOlder === true;
    this.#begunMs = this.#options.nowMs();
    this.#startEndsMs = this.#begunMs + startMs;
    clearTimeout(this.#wakeTimer);
    this.#start = new ProcessStart(given ? async () => given.process : launch, {
      launched: (process) => this.#begin(process),
      refused: (error) => this.#refuse(error),
      failed: () => this.#lose('backend_not_started'),
    });
    this.#start.after(startMs, () => {
      logger.warn(
        { backend: name, pid: this.#process?.pid, startMs },
        this.#process?.hasWrittenErrors === false ? silentlyLate : late,
      );
      this.#lose('backend_start_timed_out');
    });
    if (this.#saidOlder) this.#start.after(startMs / 2, () => this.#beginUnasked());
  }

  /** Begins with a process that was not asked what it speaks, in the time that is left. */
  #beginUnasked(): void {
    this.#beginAgain(Math.max(0, this.#startEndsMs - this.#options.nowMs()));
  }

  #beginAgain(startMs?: number): void {
    const waiting = this.#queue.takeAll();
    this.#start?.over();
    if (this.#process) this.#ending = this.#process.end();
    this.#process = undefined;
    this.#forgetAsked();
    const opening = this.#opening;
    const isSent = opening && this.#waiting.has(opening.id) && !waiting.includes(opening);
    for (const request of isSent ? [opening, ...waiting] : waiting) this.#queue.push(request);
    this.#wake(undefined, startMs);
  }

  #begin(process: StdioProcess): void {
    this.#process = process;
    process.listener = {
      line: (bytes) => this.#hear(bytes),
      tooLong: () => this.#heardTooMuch(),
      gone: () => this.#gone(),
    };
    // One that was given may have ended before it was listened to.
    if (process.isGone) {
      this.#gone();
      return;
    }
    if (this.#told.wasInitialized) process.write({ jsonrpc: '2.0', id: ownIds, ...this.#told.initialize });
    // The first initialize is the front's own, and nothing comes before its answer.
    else this.#flush();
  }

  #gone(): void {
    if (this.#state === 'starting') this.#notStarted();
    else this.#lose('backend_ended');
  }

  /** The process does not serve: another begins if it may be for what it was asked before. */
  #notStarted(): void {
    if (this.#saidOlder) this.#beginUnasked();
    else this.#lose('backend_not_started');
  }

  #flush(): void {
    this.#progress.stop();
    for (const request of this.#queue.takeAll()) this.#process?.write(request);
  }

  #ready(): void {
    this.#start?.over();
    this.#state = 'ready';
    this.#saidOlder = false;
    this.#readySinceMs = this.#options.nowMs();
    this.#options.failures.mended();
    this.#heartbeat.start();
  }

  /** The process has failed, or is to be another: answers what runs with an error. */
  #lose(reason: BackendFailure): void {
    const { name, restarts, failures, nowMs } = this.#options;
    if (this.#state === 'closed' || this.#state === 'asleep') return;
    const stood = this.#state === 'ready' ? { stoodMs: nowMs() - this.#readySinceMs } : {};
    failures.note(reason);
    restarts.failed(this.account, { reason, begunMs: this.#begunMs, ...stood });
    this.#refuse(backendError(reason, name));
    // Who waits to hear of resources asks nothing that would start it.
    if (!this.isListenedTo) return;
    const waitMs = restarts.waiting(this.account)?.waitMs ?? 0;
    this.#wakeTimer = setTimeout(() => this.#checkReady(), waitMs + 1).unref();
  }

  /** Answers what runs with an error, and sleeps. */
  #refuse(error: JsonRpcError): void {
    this.#sleep();
    for (const id of this.#waiting.keys()) this.#answerWith(id, error);
  }

  /** Ends the process, if there is one. */
  #sleep(): void {
    if (this.#state === 'closed') return;
    this.#state = 'asleep';
    this.#isRefused = false;
    this.#heartbeat.stop();
    this.#start?.over();
    this.#progress.stop();
    this.#queue.takeAll();
    this.#options.places.leave(this);
    if (this.#process) this.#ending = this.#process.end();
    this.#process = undefined;
    this.#forgetAsked();
  }

  /** Forgets a request of the process: the next process may use the same ids. */
  #forgetAsked(): void {
    const asked = [...this.#asked];
    this.#asked.clear();
    for (const requestId of asked)
      this.#send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  }

  #answerWith(id: RequestId, error: JsonRpcError): void {
    if (!this.#waiting.delete(id)) return;
    this.#told.answered(id, false);
    this.#send({ jsonrpc: '2.0', id, error } as Message);
  }

  #send(message: Message): void {
    void this.#transport?.send(message as JSONRPCMessage);
  }

  /** Takes a line of the process. */
  #hear(bytes: Uint8Array): void {
    if (this.#process?.isFramed && this.#state === 'starting') {
      this.#lose('backend_framing');
      return;
    }
    const messages = readLineOfServer(bytes, this.#process?.maxLineValues);
    if (messages === undefined) return;
    this.#heartbeat.heard();
    if (isRefusal(messages)) {
      this.#usedAtMs = this.#options.nowMs();
      this.#heardGarbage(messages, bytes.length);
    } else for (const message of messages.list) if (!this.#takePing(message)) this.#pass(message);
  }

  /** Pings of both sides are no use of the process: one that nobody uses ends in spite of them. */
  #takePing({ id, method }: Message): boolean {
    if (method === undefined && id === pingId) this.#heartbeat.answered();
    // The gateway is its client: no person is needed to say that it is there (FA-41).
    else if (method === 'ping' && id !== undefined) {
      if (this.#mayPass()) this.#process?.write({ jsonrpc: '2.0', id, result: {} });
    } else return false;
    return true;
  }

  #heardGarbage({ reason, id }: Refusal, bytes: number): void {
    const { name, logger } = this.#options;
    if (++this.#toldLines <= maxToldLines)
      logger.warn(
        { backend: name, pid: this.#process?.pid, reason, bytes },
        'a backend wrote a line to its standard output that is no MCP message',
      );
    this.#mayPass();
    if (id !== undefined) this.#answerWith(id, backendError(failureOfAnswer(reason), name));
  }

  #pass(message: Message): void {
    const { id, method } = message;
    this.#usedAtMs = this.#options.nowMs();
    if (method === undefined) this.#passAnswer(message as Message & { id: RequestId });
    else if (this.#mayPass()) {
      if (id !== undefined) this.#asked.add(id);
      else if (method === 'notifications/cancelled')
        this.#asked.delete(message.params?.requestId as RequestId);
      this.#send(message);
    }
  }

  #passAnswer(message: Message & { id: RequestId; result?: Record<string, unknown> }): void {
    const { id } = message;
    const isResult = message.result !== undefined;
    if (id === ownIds && this.#state === 'starting') {
      this.#restarted(message.result);
      return;
    }
    if (id === discoverId) {
      // That it does not know it may come of the `initialize` that was sent after it.
      if (namesModern(message)) this.#options.start.saidModern();
      return;
    }
    const method = this.#waiting.get(id);
    // Nobody asked for it, or nobody waits any more.
    if (method === undefined) return;
    if (method === 'initialize' && !isResult && this.#saidOlder) {
      this.#beginUnasked();
      return;
    }
    this.#waiting.delete(id);
    this.#flood.answer();
    this.#told.answered(id, isResult);
    if (method === 'initialize') this.#isRefused = !isResult;
    this.#send(method === 'initialize' ? withListChanges(message) : message);
    if (method !== 'initialize' || !isResult) return;
    this.#opening = undefined;
    this.#ready();
    this.#flush();
  }

  /** A new process has answered `initialize`: it is told what the last knew, and gets what waits. */
  #restarted(result: Record<string, unknown> | undefined): void {
    if (!result) {
      this.#notStarted();
      return;
    }
    this.#ready();
    this.#told.afterInitialize().forEach((told, at) => {
      const isNotification = told.method.startsWith('notifications/');
      this.#process?.write({ jsonrpc: '2.0', ...(isNotification ? {} : { id: `${ownIds}${at}` }), ...told });
    });
    this.#flush();
    // It may be another version of the program, or have other tools by now (FA-44).
    if (this.#told.isInitialized)
      for (const change of changesOfLists(listsOf(result.capabilities))) this.#send(change);
  }

  /** Returns true if what was said unasked is passed on. */
  #mayPass(): boolean {
    const { passes, isFirstDropped, pauseMs } = this.#flood.take();
    const { name, logger } = this.#options;
    if (isFirstDropped)
      logger.warn(
        { backend: name, pid: this.#process?.pid },
        'a backend says too much unasked; what is beyond its share of this second is dropped',
      );
    if (pauseMs > 0) this.#process?.pauseReading(pauseMs);
    return passes;
  }

  /** It cannot be known whose answer the line was, so nobody waits for one any more; the process goes on. */
  #heardTooMuch(): void {
    const error = backendError('backend_answer_too_large', this.#options.name);
    for (const id of this.#waiting.keys()) if (!this.#queue.has(id)) this.#answerWith(id, error);
  }
}
