import type { JSONRPCMessage, MessageExtraInfo, RequestId, Transport } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../../collections/in-flight-map.ts';
import { callerOf, changesOfLists, type Refusal, StartProgress } from '../../../mcp/building-blocks.ts';
import type { JsonRpcError, McpLike, Message, RequestMessage } from '../../../mcp/protocol.ts';
import type { AuthInfo } from '../../../oauth/auth-info.ts';
import type { Logger } from '../../../observability/logger.ts';
import { namesModern } from '../../modern/eras.ts';
import type { LegacyStart } from '../../modern/modern-source.ts';
import { backendError, failureOfAnswer } from '../backend-errors.ts';
import type { Failures } from '../gateway-backend.ts';
import { listsOf, withListChanges, withoutCallerAuth } from '../message-rewrites.ts';
import { type AdoptableProcess, discoverId } from './modern-process.ts';
import type { StdioProcess } from './stdio-process.ts';
import {
  type ProcessEnd,
  type ProcessProtocol,
  SupervisedProcess,
  type SupervisionOptions,
} from './supervised-process.ts';

/** Options of the processes of one session. */
interface LegacyProcessOptions extends SupervisionOptions {
  start: LegacyStart;
  failures: Failures;
  /**
   * Returns a process that was started for the same caller, has left its place, and awaits `initialize`, if there is one:
   * it was only asked for its revisions.
   */
  adopt(): AdoptableProcess | undefined;
  /**
   * Adds an assertion about the caller to a request other than `initialize`; absent if the program gets none.
   * @param sender of the request, if it is known
   */
  stamp?(request: RequestMessage, sender: AuthInfo | undefined): RequestMessage;
  /** Called when this server is closed for good. */
  onClose(): void;
  logger: Logger;
}

/** Maximum number of logged lines that are no messages. */
const maxLoggedLines = 5;

const late = 'a backend did not answer initialize in time';
const silentlyLate = `${late}, and wrote nothing to its standard error: a program that npx or the like has to download first may be waiting for the network, such as for a proxy or certificates that its env (--env) does not hand over; or it waits for Content-Length headers, as language servers do`;

/** Ids of requests of the gateway itself; those of the client are numbers. */
const ownIds = 'gatehouse-';
const pingId = `${ownIds}ping`;

/**
 * An MCP server of a revision up to 2025-11-25 in a supervised process. A new process gets the state of the session that the
 * last one had, so the client need not initialize again. If a process fails, its running requests fail at once (T-155, T-156).
 * @see MCP 2025-11-25 transports "stdio"
 */
export class LegacyProcess implements McpLike, ProcessProtocol {
  readonly account: string;
  readonly ping = { jsonrpc: '2.0', id: pingId, method: 'ping' };
  readonly #options: LegacyProcessOptions;
  readonly #supervised: SupervisedProcess;
  readonly #replay = new SessionReplayState();
  readonly #progress: StartProgress;
  /** Methods of the running requests of the client. */
  readonly #running = new InFlightMap<RequestId, string>();
  /** Running requests of the process to the client. */
  readonly #asked = new Set<RequestId>();
  #transport: Transport | undefined;
  /** The client's own `initialize`, until a process has accepted it. */
  #opening: RequestMessage | undefined;
  /** True if the process has rejected the client's `initialize`. */
  #isRefused = false;
  /** True if the process has rejected `server/discover`: a process without that request may do better. */
  #saidOlder = false;
  #startEndsMs = 0;
  #wakeTimer: NodeJS.Timeout | undefined;
  #loggedLines = 0;

  /** @param account owner of the processes */
  constructor(account: string, options: LegacyProcessOptions) {
    this.account = account;
    this.#options = options;
    this.#supervised = new SupervisedProcess(account, this, options);
    this.#progress = new StartProgress(`The MCP server ${options.name} is starting.`, (notification) =>
      this.#send(notification),
    );
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  get isListenedTo(): boolean {
    return this.#replay.hasSubscriptions;
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message, extra) => this.#takeOfClient(message as Message, extra?.authInfo);
    await transport.start();
  }

  /**
   * Ends the process, because a credential of it changed: its running requests fail, and the next request starts another
   * process. One that is still starting is replaced at once, and its requests wait for the next.
   */
  replace(): void {
    const { state } = this.#supervised;
    if (state === 'ready') this.#supervised.end(backendError('backend_ended', this.#options.name));
    else if (state === 'starting') this.#restart();
  }

  /**
   * Releases a process that has rejected `initialize`, for `server/discover`. Its place is free then.
   * @returns undefined if there is none
   */
  release(): StdioProcess | undefined {
    if (!this.#isRefused) return undefined;
    const released = this.#supervised.release();
    this.#supervised.stop();
    return released;
  }

  async close(): Promise<void> {
    clearTimeout(this.#wakeTimer);
    this.#supervised.stop('closed');
    this.#options.onClose();
    await Promise.all([this.#transport?.close(), this.#supervised.hasEnded()]);
  }

  startMs(): number {
    return this.#options.start.startMs();
  }

  adopt(): StdioProcess | undefined {
    const adopted = this.#options.adopt();
    this.#saidOlder = adopted?.saidOlder === true;
    return adopted?.process;
  }

  starting({ startMs, isAdopted }: { startMs: number; isAdopted: boolean }): void {
    clearTimeout(this.#wakeTimer);
    this.#startEndsMs = this.#options.nowMs() + startMs;
    if (!isAdopted) this.#saidOlder = false;
    if (this.#saidOlder) this.#supervised.duringStart(startMs / 2, () => this.#restartInTime());
  }

  greet(process: StdioProcess): void {
    if (this.#replay.wasInitialized)
      process.write({ jsonrpc: '2.0', id: ownIds, ...this.#replay.initialize });
    // The first initialize is the client's own, and no request is sent before its response.
    else this.#flush();
  }

  startTimedOut(startMs: number): void {
    const { logger, name } = this.#options;
    const { process } = this.#supervised;
    logger.warn(
      { backend: name, pid: process?.pid, startMs },
      process?.hasWrittenErrors === false ? silentlyLate : late,
    );
    this.#supervised.fail('backend_start_timed_out');
  }

  notStarted(): void {
    // The earlier `server/discover` may be the reason.
    if (this.#saidOlder) this.#restartInTime();
    else this.#supervised.fail('backend_not_started');
  }

  take(message: Message): void {
    const { id, method } = message;
    if (method === undefined && id === pingId) this.#supervised.pingAnswered();
    // The gateway answers pings itself: no user is needed for that, and an unused process is idle in spite of them (FA-41).
    else if (method === 'ping' && id !== undefined) {
      if (this.#mayPass()) this.#supervised.write({ jsonrpc: '2.0', id, result: {} });
    } else this.#passToClient(message);
  }

  takeUnreadable({ reason, id }: Refusal, bytes: number): void {
    const { name, logger } = this.#options;
    this.#supervised.used();
    if (++this.#loggedLines <= maxLoggedLines)
      logger.warn(
        { backend: name, pid: this.#supervised.process?.pid, reason, bytes },
        'a backend wrote a line to its standard output that is no MCP message',
      );
    this.#mayPass();
    if (id !== undefined) this.#reject(id, backendError(failureOfAnswer(reason), name));
  }

  takeTooLong(): void {
    const error = backendError('backend_answer_too_large', this.#options.name);
    for (const id of this.#running.keys()) if (!this.#supervised.isQueued(id)) this.#reject(id, error);
  }

  evict(): void {
    const { logger, name } = this.#options;
    logger.info({ backend: name, pid: this.#supervised.process?.pid }, 'an idle backend gave way');
    this.#supervised.stop();
  }

  isExcused(): boolean {
    return false;
  }

  stopped(): void {
    this.#isRefused = false;
    this.#progress.stop();
    this.#forgetAsked();
  }

  ended({ error, reason }: ProcessEnd): void {
    const { failures, restarts } = this.#options;
    if (reason) failures.note(reason);
    for (const id of this.#running.keys()) this.#reject(id, error);
    // A client that waits for changes of resources sends no request that would restart the process.
    if (!reason || !this.isListenedTo) return;
    const waitMs = restarts.waiting(this.account)?.waitMs ?? 0;
    this.#wakeTimer = setTimeout(() => this.#supervised.ensureStarted(), waitMs + 1).unref();
  }

  #takeOfClient(said: Message, authInfo: MessageExtraInfo['authInfo']): void {
    if (this.#supervised.state === 'closed') return;
    // Before the state of the session is recorded, which a new process gets again.
    const message = withoutCallerAuth(said);
    const { id, method } = message;
    this.#supervised.used();
    this.#replay.sent(message);
    if (method === undefined) {
      if (this.#asked.delete(id as RequestId)) this.#supervised.write(message);
    } else if (id === undefined) this.#notify(message);
    else {
      this.#running.set(id, method);
      const refusal = this.#supervised.ensureStarted() ?? this.#request(message as RequestMessage, authInfo);
      // Asynchronous, like the response of a server.
      if (refusal) queueMicrotask(() => this.#reject(id, refusal));
    }
  }

  #notify(message: Message): void {
    if (message.method === 'notifications/cancelled') {
      const id = message.params?.requestId as RequestId;
      if (!this.#running.delete(id)) return;
      this.#replay.answered(id, false);
      this.#progress.remove(id);
      if (this.#supervised.unqueue(id)) return;
    }
    if (this.#supervised.state === 'ready') this.#supervised.write(message);
  }

  #request(request: RequestMessage, authInfo: MessageExtraInfo['authInfo']): JsonRpcError | undefined {
    const sender = authInfo && callerOf({ authInfo });
    // A new process gets the same `initialize`, of which nobody is the caller then.
    const passed = request.method === 'initialize' ? request : this.#stamped(request, sender);
    const waits = this.#supervised.state !== 'ready';
    if (waits && passed.method === 'initialize') this.#opening = passed;
    const refusal = this.#supervised.send(passed);
    if (waits && !refusal) this.#progress.add(passed);
    return refusal;
  }

  #stamped(request: RequestMessage, sender: AuthInfo | undefined): RequestMessage {
    return this.#options.stamp?.(request, sender) ?? request;
  }

  /** Restarts with a process that was not asked for its revisions, in the remaining time. */
  #restartInTime(): void {
    this.#restart(Math.max(0, this.#startEndsMs - this.#options.nowMs()));
  }

  #restart(startMs?: number): void {
    if (this.#opening && this.#running.has(this.#opening.id)) this.#supervised.queueFirst(this.#opening);
    this.#supervised.restartWhileStarting(startMs);
    this.#forgetAsked();
  }

  #flush(): void {
    this.#progress.stop();
    this.#supervised.flush();
  }

  #becomeReady(): void {
    this.#supervised.becomeReady();
    this.#saidOlder = false;
    this.#options.failures.mended();
  }

  /** Cancels the requests of the process to the client: the next process may use the same ids. */
  #forgetAsked(): void {
    const asked = [...this.#asked];
    this.#asked.clear();
    for (const requestId of asked)
      this.#send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  }

  #reject(id: RequestId, error: JsonRpcError): void {
    if (!this.#running.delete(id)) return;
    this.#replay.answered(id, false);
    this.#send({ jsonrpc: '2.0', id, error } as Message);
  }

  #send(message: Message): void {
    void this.#transport?.send(message as JSONRPCMessage);
  }

  #passToClient(message: Message): void {
    const { id, method } = message;
    this.#supervised.used();
    if (method === undefined) this.#passResponse(message as Message & { id: RequestId });
    else if (this.#mayPass()) {
      if (id !== undefined) this.#asked.add(id);
      else if (method === 'notifications/cancelled')
        this.#asked.delete(message.params?.requestId as RequestId);
      this.#send(message);
    }
  }

  #passResponse(message: Message & { id: RequestId; result?: Record<string, unknown> }): void {
    const { id } = message;
    const isResult = message.result !== undefined;
    if (id === ownIds && this.#supervised.state === 'starting') {
      this.#restarted(message.result);
      return;
    }
    if (id === discoverId) {
      // An error says nothing here: it may come from the `initialize` that was sent after it.
      if (namesModern(message)) this.#options.start.saidModern();
      return;
    }
    const method = this.#running.get(id);
    // An unknown or cancelled request.
    if (method === undefined) return;
    if (method === 'initialize' && !isResult && this.#saidOlder) {
      this.#restartInTime();
      return;
    }
    this.#running.delete(id);
    this.#supervised.requestAnswered();
    this.#replay.answered(id, isResult);
    if (method === 'initialize') this.#isRefused = !isResult;
    this.#send(method === 'initialize' ? withListChanges(message) : message);
    if (method !== 'initialize' || !isResult) return;
    this.#opening = undefined;
    this.#becomeReady();
    this.#flush();
  }

  /** A restarted process has answered `initialize`: sends the state of the session and the waiting requests. */
  #restarted(result: Record<string, unknown> | undefined): void {
    if (!result) {
      this.notStarted();
      return;
    }
    this.#becomeReady();
    this.#replay.afterInitialize().forEach((message, at) => {
      const isNotification = message.method.startsWith('notifications/');
      this.#supervised.write({
        jsonrpc: '2.0',
        ...(isNotification ? {} : { id: `${ownIds}${at}` }),
        ...message,
      });
    });
    this.#flush();
    // The program may be another version, or have other tools by now (FA-44).
    if (this.#replay.isInitialized)
      for (const change of changesOfLists(listsOf(result.capabilities))) this.#send(change);
  }

  /** Counts a message that the process sent by itself. @returns false if it must be dropped */
  #mayPass(): boolean {
    const { passes, isFirstDropped } = this.#supervised.countUnasked();
    const { name, logger } = this.#options;
    if (isFirstDropped)
      logger.warn(
        { backend: name, pid: this.#supervised.process?.pid },
        'a backend says too much unasked; what is beyond its share of this second is dropped',
      );
    return passes;
  }
}

/** A request by which a client changes the state of its session. */
interface Change {
  method: string;
  params: Record<string, unknown> | undefined;
}

const changes = new Set(['initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);

/**
 * State of a session that a new process must get again: `initialize`, the client's ready notification, the log level and
 * the subscriptions.
 */
export class SessionReplayState {
  readonly #open = new Map<RequestId, Change>();
  readonly #subscriptions = new Set<unknown>();
  #initialize: Record<string, unknown> | undefined;
  #isInitialized = false;
  #level: unknown;

  /** True if a process has accepted `initialize`. */
  get wasInitialized(): boolean {
    return this.#initialize !== undefined;
  }

  /** True if the client has sent its ready notification. */
  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  get hasSubscriptions(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Takes note of a message to the process. */
  sent({ id, method, params }: Message): void {
    if (method === 'notifications/initialized') this.#isInitialized = true;
    else if (id !== undefined && changes.has(method as string))
      this.#open.set(id, { method: method as string, params });
  }

  /** Takes note of the response to a request. @param isResult false for an error, and if there is no response */
  answered(id: RequestId, isResult: boolean): void {
    if (this.#open.size === 0) return;
    const change = this.#open.get(id);
    this.#open.delete(id);
    if (change && isResult) this.#apply(change);
  }

  /** First request to a new process. */
  get initialize(): { method: string; params: Record<string, unknown> } {
    return { method: 'initialize', params: this.#initialize ?? {} };
  }

  /** Messages to a new process after `initialize`; all but the ready notification are requests. */
  afterInitialize(): { method: string; params?: Record<string, unknown> }[] {
    const ready = this.#isInitialized ? [{ method: 'notifications/initialized' }] : [];
    const level =
      this.#level === undefined ? [] : [{ method: 'logging/setLevel', params: { level: this.#level } }];
    const subscriptions = [...this.#subscriptions].map((uri) => ({
      method: 'resources/subscribe',
      params: { uri },
    }));
    return [...ready, ...level, ...subscriptions];
  }

  #apply({ method, params = {} }: Change): void {
    if (method === 'initialize') this.#initialize = params;
    else if (method === 'logging/setLevel') this.#level = params.level;
    else if (method === 'resources/subscribe') this.#subscriptions.add(params.uri);
    else this.#subscriptions.delete(params.uri);
  }
}
