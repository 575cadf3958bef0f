import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, MessageExtraInfo, RequestId, Transport } from '@modelcontextprotocol/server';
import { SessionMemory } from '../../../client/transports/session-memory.ts';
import { InFlightMap } from '../../../collections/in-flight-map.ts';
import { callerOf, changesOfLists, ownData } from '../../../mcp/building-blocks.ts';
import type { JsonRpcError, McpLike, Message, RequestMessage } from '../../../mcp/protocol.ts';
import type { AuthInfo } from '../../../oauth/auth-info.ts';
import { errorCodes } from '../../../oauth/mcp-error-codes.ts';
import type { Credentials } from '../../credentials/credentials.ts';
import { backendError, restartingError } from '../backend-errors.ts';
import { Heartbeat } from '../heartbeat.ts';
import { listsOf, withListChanges, withoutCallerAuth } from '../message-rewrites.ts';
import { OutputRateLimiter } from '../output-rate-limiter.ts';
import type { Restarts } from '../restarts.ts';
import type { Link, LinkFailure, LinkKind, LinkListener } from './link.ts';

/** Options of the conversation with a server. */
interface RemoteServerOptions {
  /** Name in errors. */
  name: string;
  /**
   * Returns the credentials of the caller, or the error if there are none; called for each message.
   * @param sender of the message; undefined for a message of the gateway itself
   */
  credentials?: (sender: AuthInfo | undefined) => Promise<Credentials | { error: JsonRpcError }>;
  /** Returns the kinds of links to try, the likeliest first. */
  kinds: () => readonly LinkKind[];
  makeLink: (kind: LinkKind, credentials: Credentials, listener: LinkListener) => Link;
  /** Returns the maximum time for the response to `initialize`, over all attempts, in milliseconds. */
  startMs(): number;
  /** Owner of the conversation. */
  account: string;
  /** Milliseconds of silence until a session is pinged; 0 for never. */
  pingMs: number;
  /** Delays the next start after one that took too long. */
  restarts: Restarts;
  /** Maximum number of messages that wait for a new session. */
  maxHeld: number;
  /** Takes note of a kind of link that works. */
  worked: (kind: LinkKind) => void;
  noteFailure: (failure: LinkFailure) => void;
  /** Warns that the server sends too many messages by itself. */
  warnOfTooMuchOutput: () => void;
  /** Called when it is closed. */
  closed: () => void;
}

const credentialsUnavailable: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The credentials for this server cannot be read at present. Try again later.',
  data: ownData({ reason: 'credentials_unavailable' }),
};

/** Maximum time for the response to a ping in a session of unknown state, in milliseconds. */
const doubtMs = 5_000;

type Outcome = { answer: Message } | { failure: LinkFailure };

/**
 * A conversation with an MCP server that has a URL. If the server has forgotten the session, a new one is started with
 * the same `initialize`, log level and subscriptions, and the rejected messages are sent again.
 * @see MCP 2025-11-25 transports "Session Management", "Backwards Compatibility" (B3-11, B6-01)
 */
export class RemoteServer implements McpLike {
  readonly #options: RemoteServerOptions;
  readonly #memory = new SessionMemory();
  readonly #limiter = new OutputRateLimiter(() => performance.now());
  /** Running requests of the client. */
  readonly #waiting = new InFlightMap<RequestId, Message>();
  /** Running requests of the gateway itself, by their ids. */
  readonly #own = new Map<RequestId, (outcome: Outcome) => void>();
  /** Messages that were rejected with a lost session once. */
  readonly #sentAgain = new WeakSet<Message>();
  /** Headers about the sender of each message, which other tokens of the session do not share. */
  readonly #freshHeaders = new WeakMap<Message, NonNullable<Credentials['freshHeaders']>>();
  /** Prefix of ids, unique for the session: some servers send every response to all sessions. */
  readonly #ownIds = `gateway-${randomUUID()}-`;
  #lastOwnId = 0;
  #transport: Transport | undefined;
  #link: Link | undefined;
  /** Links of lost sessions that may still bring responses. */
  readonly #retired = new Set<Link>();
  #credentials: Credentials = {};
  /** Resolves when the earlier messages are sent: they wait for credentials. */
  #before: Promise<void> = Promise.resolve();
  #version: unknown;
  /** Id of `initialize` while the first session begins. */
  #opening: RequestId | undefined;
  /** Set while it is checked if the session still answers. */
  #doubted: Promise<{ failure?: LinkFailure }> | undefined;
  #hasBegun = false;
  /** True if the credentials have changed during the start. */
  #isOutdated = false;
  /** Messages that wait for a new session. */
  #held: Message[] | undefined;
  #isClosed = false;
  readonly #heartbeat: Heartbeat;

  constructor(options: RemoteServerOptions) {
    this.#options = options;
    this.#heartbeat = new Heartbeat({
      everyMs: options.pingMs,
      known: { isAnswered: true },
      isBusy: () => this.#waiting.size > 0,
      ping: () => void this.#beat(),
      dead: () => this.#unresponsive(),
      nowMs: () => performance.now(),
    });
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message, extra) => this.#take(message as Message, extra?.authInfo);
    await transport.start();
  }

  /**
   * Replaces the session, because its credentials are outdated. A session that is still starting starts with the new
   * ones, and its client notices nothing.
   */
  replace(): void {
    if (this.#hasBegun) void this.close();
    else if (this.#opening !== undefined) {
      this.#isOutdated = true;
      this.#own.get(this.#opening)?.({ failure: { reason: 'backend_ended' } });
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#heartbeat.stop();
    this.#options.closed();
    const links = [...this.#retired, ...(this.#link ? [this.#link] : [])];
    await this.#transport?.close();
    await Promise.all(links.map((link) => link.close()));
  }

  /** Takes a message of the client. */
  #take(said: Message, authInfo: MessageExtraInfo['authInfo']): void {
    if (this.#isClosed) return;
    const message = withoutCallerAuth(said);
    const sender = authInfo && callerOf({ authInfo });
    const { id, method } = message;
    this.#memory.sent(message as JSONRPCMessage);
    if (method !== undefined && id !== undefined) {
      this.#waiting.set(id, message);
      this.#heartbeat.asked();
    }
    if (method === 'initialize') void this.#begin(message as RequestMessage, sender);
    else if (method === 'notifications/cancelled') this.#cancel(message);
    else if (!this.#options.credentials) this.#deliver(message);
    else this.#before = this.#before.then(() => this.#deliverWithCredentials(message, sender));
  }

  #deliver(message: Message): void {
    if (this.#held) this.#hold(message);
    else if (this.#link) this.#send(this.#link, message);
    else this.#renew([message]);
  }

  /** Sends a message with the headers about its own sender, also if later messages came before it is sent. */
  #send(link: Link, message: Message): void {
    const freshHeaders = this.#freshHeaders.get(message);
    const isCurrent = freshHeaders === undefined || freshHeaders === this.#credentials.freshHeaders;
    if (!isCurrent) link.use({ ...this.#credentials, freshHeaders });
    link.send(message);
    if (!isCurrent) link.use(this.#credentials);
  }

  async #deliverWithCredentials(message: Message, sender: AuthInfo | undefined): Promise<void> {
    const { id, method } = message;
    const error = await this.#findCredentials(sender);
    if (this.#isClosed || (method !== undefined && id !== undefined && !this.#waiting.has(id))) return;
    if (error) {
      if (id !== undefined) this.#answer({ jsonrpc: '2.0', id, error } as Message);
      return;
    }
    const { freshHeaders } = this.#credentials;
    if (freshHeaders) this.#freshHeaders.set(message, freshHeaders);
    this.#deliver(message);
  }

  /** @returns the error if there are no credentials */
  async #findCredentials(sender: AuthInfo | undefined): Promise<JsonRpcError | undefined> {
    const found = await this.#options.credentials?.(sender).catch(() => ({ error: credentialsUnavailable }));
    if (found === undefined) return undefined;
    if (isRefused(found)) return found.error;
    if (found !== this.#credentials) this.#link?.use(found);
    this.#credentials = found;
    return undefined;
  }

  #cancel(message: Message): void {
    const id = message.params?.requestId as RequestId;
    if (!this.#waiting.delete(id)) return;
    for (const retired of this.#retired) retired.drop(id);
    this.#link?.drop(id);
    if (this.#held) this.#held = this.#held.filter((held) => held.id !== id || held.method === undefined);
    else this.#link?.send(message);
  }

  async #begin(initialize: RequestMessage, sender: AuthInfo | undefined): Promise<void> {
    this.#opening = initialize.id;
    const outcome = await this.#openWithCredentials(initialize, sender);
    this.#opening = undefined;
    this.#hasBegun = true;
    if ('failure' in outcome) {
      this.#failed(initialize.id, outcome.failure);
      return;
    }
    this.#version = versionIn(outcome.answer);
    this.#answer(this.#link?.kind === 'rest' ? outcome.answer : withListChanges(outcome.answer));
  }

  async #openWithCredentials(initialize: RequestMessage, sender: AuthInfo | undefined): Promise<Outcome> {
    const resting = this.#checkResting();
    if (resting) return { answer: { jsonrpc: '2.0', id: initialize.id, error: resting } as Message };
    const untilMs = this.#endOfStart();
    for (;;) {
      this.#isOutdated = false;
      const error = await this.#findCredentials(sender);
      if (error) return { answer: { jsonrpc: '2.0', id: initialize.id, error } as Message };
      const outcome = await this.#open(initialize, untilMs);
      if (!this.#isOutdated || this.#isClosed) return outcome;
      const link = this.#link;
      this.#link = undefined;
      await link?.close();
    }
  }

  /** Returns the error if no session may start now, because the last start took too long. */
  #checkResting(): JsonRpcError | undefined {
    const { restarts, account, name } = this.#options;
    const waiting = restarts.waiting(account);
    return waiting && restartingError(waiting.reason, name, waiting.waitMs);
  }

  /** Time by which a session that starts now must be ready, by `performance.now()`. */
  #endOfStart(): number {
    return performance.now() + this.#options.startMs();
  }

  /** Starts a session over the first kind of link that works. */
  async #open(initialize: RequestMessage, untilMs: number): Promise<Outcome> {
    const begunMs = performance.now();
    const kinds = this.#options.kinds();
    for (const kind of kinds) {
      const link = this.#options.makeLink(kind, this.#credentials, this.#listener);
      const outcome = await this.#ask(link, initialize, untilMs);
      if (!('failure' in outcome) && !this.#isClosed) {
        this.#link = link;
        if (link.hasSession) this.#heartbeat.start();
        this.#options.worked(kind);
        this.#options.restarts.succeeded(this.#options.account);
        return outcome;
      }
      await link.close();
      if (!('failure' in outcome)) return { failure: { reason: 'backend_ended' } };
      const { reason } = outcome.failure;
      if (reason === 'backend_start_timed_out' && !this.#isClosed)
        this.#options.restarts.failed(this.#options.account, { reason, begunMs });
      if (!outcome.failure.mayBeOther || kinds.length === 1) return outcome;
    }
    return { failure: { reason: 'backend_not_mcp' } };
  }

  /** Sends a request of the gateway itself, and waits for the response within the time of a start. */
  #ask(link: Link, request: RequestMessage, untilMs: number): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#own.set(request.id, resolve);
    const timer = setTimeout(
      () => resolve({ failure: { reason: 'backend_start_timed_out' } }),
      Math.max(0, untilMs - performance.now()),
    );
    if (request.method === 'initialize') link.open(request);
    else link.send(request);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#own.delete(request.id);
    });
  }

  /** Pings the session. Every HTTP response is a sign of life, and shows if the session is gone. */
  async #beat(): Promise<void> {
    const link = this.#link;
    if (!link) return;
    const { pingMs } = this.#options;
    const { failure } = await this.#ping(link, 3 * pingMs);
    if ((!failure || failure.status !== undefined) && link === this.#link) this.#heartbeat.heard();
  }

  /** Leaves a session that does not answer: the next message starts another. */
  #unresponsive(): void {
    const link = this.#link;
    if (!link) return;
    const failure: LinkFailure = { reason: 'backend_unresponsive' };
    this.#link = undefined;
    if (this.#waiting.size === 0) this.#options.noteFailure(failure);
    for (const id of this.#waiting.keys()) this.#failed(id, failure);
    void link.close();
  }

  readonly #listener: LinkListener = {
    hear: (message, relatedTo) => this.#hear(message, relatedTo),
    failed: (id, failure) => {
      const own = this.#own.get(id);
      if (own) own({ failure });
      else if (failure.status === 503 && this.#link?.hasSession && !this.#held) void this.#doubt(id, failure);
      else this.#failed(id, failure);
    },
    lost: (link, unsent) => this.#lost(link, unsent),
  };

  #hear(message: Message, relatedTo: RequestId | undefined): void {
    this.#heartbeat.heard();
    if (message.method !== undefined) this.#say(message, relatedTo);
    else {
      const own = message.id === undefined ? undefined : this.#own.get(message.id);
      if (own) own({ answer: message });
      else this.#answer(message);
    }
  }

  #say(message: Message, relatedTo: RequestId | undefined): void {
    const { passes, isFirstDropped } = this.#limiter.take();
    if (isFirstDropped) this.#options.warnOfTooMuchOutput();
    if (!passes) return;
    const isRelated = relatedTo !== undefined && this.#waiting.has(relatedTo);
    void this.#transport?.send(message as JSONRPCMessage, isRelated ? { relatedRequestId: relatedTo } : {});
  }

  #answer(message: Message): void {
    if (message.id === undefined || !this.#waiting.delete(message.id)) return;
    this.#limiter.answer();
    void this.#transport?.send(message as JSONRPCMessage);
  }

  #failed(id: RequestId, failure: LinkFailure): void {
    if (this.#isClosed || !this.#waiting.has(id)) return;
    this.#options.noteFailure(failure);
    const error = backendError(failure.reason, this.#options.name, failure.full);
    this.#answer({ jsonrpc: '2.0', id, error } as Message);
  }

  /**
   * Finds out if a 503 means that the server is busy, or that the session is gone with its node: a live session answers
   * a ping.
   */
  async #doubt(id: RequestId, failure: LinkFailure): Promise<void> {
    const link = this.#link;
    const message = this.#waiting.get(id);
    if (!link || !message) return;
    this.#doubted ??= this.#ping(link, doubtMs).finally(() => {
      this.#doubted = undefined;
    });
    const { failure: dead } = await this.#doubted;
    if (!dead || this.#isClosed || !this.#waiting.has(id)) this.#failed(id, failure);
    else this.#lost(link, [message], link);
  }

  /** @returns the reason if the session does not answer in time; an error is an answer */
  async #ping(link: Link, withinMs: number): Promise<{ failure?: LinkFailure }> {
    const ping = { jsonrpc: '2.0', id: this.#nextOwnId(), method: 'ping' } as RequestMessage;
    const outcome = await this.#ask(link, ping, performance.now() + withinMs);
    if (!('failure' in outcome)) return {};
    link.drop(ping.id);
    return outcome;
  }

  /** @param doubted link that is kept if no new session can be started */
  #lost(link: Link, unsent: readonly Message[], doubted?: Link): void {
    const again: Message[] = [];
    for (const message of unsent) {
      const own = message.id === undefined ? undefined : this.#own.get(message.id);
      if (own) own({ failure: { reason: 'backend_session_lost' } });
      else if (this.#isWanted(message)) again.push(message);
    }
    if (this.#isClosed) return;
    if (link === this.#link) this.#retire(link);
    if (this.#link || this.#held) for (const message of again) this.#deliver(message);
    else if (again.length > 0) this.#renew(again, doubted);
  }

  /** Returns true if a rejected message of a lost session is sent again: once, and no response to the lost session. */
  #isWanted(message: Message): boolean {
    const { id, method } = message;
    if (method === undefined || (id !== undefined && !this.#waiting.has(id))) return false;
    const isFirstTime = !this.#sentAgain.has(message);
    if (isFirstTime) this.#sentAgain.add(message);
    else if (id !== undefined) this.#failed(id, { reason: 'backend_session_lost' });
    return isFirstTime;
  }

  #retire(link: Link): void {
    this.#link = undefined;
    this.#heartbeat.stop();
    for (const retired of this.#retired) if (!retired.isBusy) this.#retired.delete(retired);
    this.#retired.add(link);
  }

  #hold(message: Message): void {
    if (this.#held && this.#held.length < this.#options.maxHeld) this.#held.push(message);
    else if (message.id !== undefined)
      this.#failed(message.id, { reason: 'backend_busy', full: 'session_start' });
  }

  /** Starts a new session like the lost one, and sends the waiting messages. */
  #renew(messages: readonly Message[], doubted?: Link): void {
    const resting = this.#checkResting();
    if (resting) {
      // Later, as the server would answer: who asks hears nothing before it has asked.
      queueMicrotask(() => {
        for (const { id, method } of messages)
          if (id !== undefined && method !== undefined)
            this.#answer({ jsonrpc: '2.0', id, error: resting } as Message);
      });
      return;
    }
    this.#held = [...messages];
    void this.#beginAnew().then((failure) => {
      const held = this.#held ?? [];
      this.#held = undefined;
      if (doubted) this.#settle(doubted, failure);
      const link = failure ? undefined : this.#link;
      for (const message of held)
        if (link) this.#send(link, message);
        else if (message.id !== undefined && message.method !== undefined)
          this.#failed(message.id, failure ?? { reason: 'backend_session_lost' });
    });
  }

  /** Keeps the old session if the server is too busy to start a new one. */
  #settle(doubted: Link, failure: LinkFailure | undefined): void {
    if (failure?.status === 503 && this.#retired.delete(doubted)) this.#link = doubted;
    else if (!doubted.isBusy) void doubted.close();
  }

  async #beginAnew(): Promise<LinkFailure | undefined> {
    const { opening, lasting } = this.#memory;
    if (!opening) return { reason: 'backend_session_lost' };
    const untilMs = this.#endOfStart();
    const again = { ...opening.initialize, id: this.#nextOwnId() } as RequestMessage;
    const outcome = await this.#open(again, untilMs);
    if ('failure' in outcome) return outcome.failure;
    const link = this.#link;
    if (!link || versionIn(outcome.answer) !== this.#version) {
      this.#link = undefined;
      await link?.close();
      return { reason: 'backend_session_lost' };
    }
    link.send(opening.initialized as Message);
    for (const request of lasting)
      await this.#ask(link, { ...request, id: this.#nextOwnId() } as RequestMessage, untilMs);
    const { result } = outcome.answer as { result?: { capabilities?: unknown } };
    for (const change of changesOfLists(listsOf(result?.capabilities)))
      void this.#transport?.send(change as JSONRPCMessage);
    return undefined;
  }

  #nextOwnId(): string {
    return `${this.#ownIds}${++this.#lastOwnId}`;
  }
}

function versionIn(answer: Message): unknown {
  const { result } = answer as { result?: { protocolVersion?: unknown } };
  return result?.protocolVersion;
}

function isRefused(found: Credentials | { error: JsonRpcError }): found is { error: JsonRpcError } {
  return 'error' in found;
}
