import {
  isInitializedNotification,
  isInitializeRequest,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { endedWithin } from '../../collections/closing.ts';
import { ClientError } from '../client-error.ts';
import { isSessionLost } from './connect-errors.ts';
import { type OpenRequest, OpenRequests, OwnRequests } from './open-requests.ts';
import { announceLists, SessionMemory } from './session-memory.ts';

/** A transport that can end its session at the server. */
export type SessionTransport = Transport & { terminateSession?(): Promise<void> };

/** Longest wait for the end of a session to be heard, in milliseconds. */
const goodbyeMs = 2_000;

/**
 * A connection that outlives its sessions. If the server has forgotten the session, or the connection ended, a new one
 * is begun as the first was, and told the same log level and subscriptions. What was refused for the lack of a session
 * is sent again; what broke off is sent again once if that is safe, else answered with an error. Without `initialize`,
 * as in 2026-07-28, there is no session to renew.
 * @see MCP transports "Session Management" (B1-06, B3-11, B5-14)
 */
export class RenewingTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #open: () => SessionTransport;
  readonly #memory = new SessionMemory();
  readonly #requests = new OpenRequests();
  readonly #own = new OwnRequests();
  /** Connections of lost sessions that may still bring answers. */
  readonly #retired = new Set<SessionTransport>();
  #inner: SessionTransport;
  #version: string | undefined;
  #renewal: Promise<void> | undefined;
  #isGone = false;
  #isClosed = false;
  #lastError: Error | undefined;

  /** @param open makes a transport that has not been started, for each session */
  constructor(open: () => SessionTransport) {
    this.#open = open;
    this.#inner = this.#attach(open());
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  /** See the SDK's `Transport`. */
  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  /** Starts the first connection. @throws what its transport throws */
  start(): Promise<void> {
    return this.#inner.start();
  }

  /** Names the negotiated revision to the transport of each session. */
  setProtocolVersion(version: string): void {
    this.#version = version;
    this.#inner.setProtocolVersion?.(version);
  }

  /**
   * Sends a message, in a new session if the old one is lost.
   * @throws what the transport throws
   */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    this.#memory.sent(message);
    if ('method' in message && message.method === 'notifications/cancelled')
      this.#requests.cancelled(message.params?.requestId);
    if (isJSONRPCRequest(message) && !options.onRequestStreamEnd) this.#requests.add(message, options);
    try {
      await this.#deliver(message, options);
    } catch (error) {
      if (isJSONRPCRequest(message)) this.#answered(message.id);
      throw error;
    }
  }

  /** Ends the session at the server, if it can be told, and the connection. */
  async end(): Promise<void> {
    await endedWithin(
      goodbyeMs,
      this.#inner.terminateSession?.().catch(() => undefined),
    );
    await this.close();
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([this.#inner, ...this.#retired].map((transport) => transport.close()));
    this.onclose?.();
  }

  async #deliver(message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    const isHandshake = isInitializeRequest(message) || isInitializedNotification(message);
    if (!isHandshake) {
      await this.#renewal;
      if (this.#isGone) await this.#renew(this.#inner);
    }
    const inner = this.#inner;
    try {
      await this.#hand(message, options, inner);
      return;
    } catch (error) {
      if (isHandshake || !this.#memory.opening || !isSessionLost(error, inner)) throw error;
      await this.#renew(inner);
    }
    // An answer is for the session that asked.
    if ('method' in message) await this.#hand(message, options, this.#inner);
  }

  async #hand(message: JSONRPCMessage, options: TransportSendOptions, to: SessionTransport): Promise<void> {
    if (!isJSONRPCRequest(message) || options.onRequestStreamEnd) return to.send(message, options);
    this.#requests.sending(message.id, to);
    await to.send(message, { ...options, onRequestStreamEnd: () => this.#broke(message.id) });
    this.#requests.taken(message.id);
  }

  /** The answer to a request cannot come any more. */
  #broke(sentAs: RequestId): void {
    const request = this.#answered(sentAs);
    if (!request || this.#isClosed) return;
    const because = this.#lastError ? ` (${this.#lastError.message})` : '';
    const again = this.#requests.repeat(request);
    if (!again) {
      const message = `The connection broke before the answer was complete${because}. Whether the server did what was asked is not known.`;
      this.onmessage?.({ jsonrpc: '2.0', id: request.message.id, error: { code: -32000, message } });
      return;
    }
    this.#deliver(again, request.options).catch((error: unknown) => {
      if (!this.#answered(again.id)) return;
      const message = error instanceof Error ? error.message : 'The connection broke.';
      this.onmessage?.({ jsonrpc: '2.0', id: request.message.id, error: { code: -32000, message } });
    });
  }

  #attach(inner: SessionTransport): SessionTransport {
    inner.onmessage = (message, extra) => {
      if (this.#own.take(message)) return;
      const request = 'method' in message ? undefined : this.#answered(message.id);
      const answer = request
        ? { ...completeResultType(message, request.message), id: request.message.id }
        : message;
      this.onmessage?.(answer, extra);
    };
    inner.onerror = (error) => {
      this.#lastError = error;
      this.onerror?.(error);
      if (error instanceof SdkHttpError && error.code === SdkErrorCode.ClientHttpFailedToOpenStream)
        this.#streamRefused(error, inner);
    };
    inner.onclose = () => {
      if (inner === this.#inner) this.#ended();
    };
    return inner;
  }

  /** The connection ended, and not because it was closed. */
  #ended(): void {
    if (this.#isClosed || this.#isGone) return;
    if (!this.#memory.opening) {
      this.#isClosed = true;
      this.onclose?.();
      return;
    }
    this.#isGone = true;
    for (const id of this.#requests.takenBy(this.#inner)) this.#broke(id);
  }

  /**
   * The server has no stream for us. Whether it has forgotten the session shows in a ping only: some answer 404 to
   * every GET.
   */
  #streamRefused(error: SdkHttpError, inner: SessionTransport): void {
    if (inner !== this.#inner || this.#isClosed || !this.#memory.opening || !isSessionLost(error, inner))
      return;
    this.#own
      .ask(inner, { jsonrpc: '2.0', method: 'ping' })
      .catch((failure: unknown) => (isSessionLost(failure, inner) ? this.#renew(inner) : undefined))
      .catch(() => undefined);
  }

  #renew(lost: SessionTransport): Promise<void> {
    if (this.#inner !== lost) return this.#renewal ?? Promise.resolve();
    this.#renewal ??= this.#begin(lost).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #begin(lost: SessionTransport): Promise<void> {
    const { opening } = this.#memory;
    if (!opening || this.#isClosed) throw new ClientError('server_error', 'The session has ended.');
    const inner = this.#attach(this.#open());
    this.#inner = inner;
    this.#isGone = false;
    this.#retired.add(lost);
    this.#sweep();
    try {
      await inner.start();
      const answer = await this.#own.ask(inner, opening.initialize);
      const result = isJSONRPCResultResponse(answer) ? answer.result : undefined;
      if (!result || (this.#version !== undefined && result.protocolVersion !== this.#version))
        throw new ClientError(
          'server_error',
          'The session has ended, and the server does not begin one like it. Connect again.',
        );
      inner.setProtocolVersion?.(String(result.protocolVersion));
      await inner.send(opening.initialized);
      for (const request of this.#memory.lasting) await this.#own.ask(inner, request);
      for (const change of announceLists(result.capabilities)) this.onmessage?.(change);
    } catch (error) {
      this.#isGone = true;
      throw error;
    }
  }

  #answered(id: RequestId | undefined): OpenRequest | undefined {
    const request = this.#requests.answered(id);
    if (this.#retired.size > 0) this.#sweep();
    return request;
  }

  /** Closes connections of lost sessions that owe no answers any more. */
  #sweep(): void {
    for (const transport of this.#retired) {
      if (this.#requests.areOpen(transport)) continue;
      this.#retired.delete(transport);
      transport.close().catch(() => undefined);
    }
  }
}

/** The member of `_meta` with the revision of a request, from 2026-07-28 on. */
const versionMember = 'io.modelcontextprotocol/protocolVersion';

/**
 * Adds the `resultType` `complete` to a result of 2026-07-28 without one, which the SDK's client would
 * reject.
 * @param answer the response of the server
 * @param request its request
 * @see MCP 2026-07-28 base protocol, results (C1-04)
 */
export function completeResultType(answer: JSONRPCMessage, request: JSONRPCRequest): JSONRPCMessage {
  if (!isJSONRPCResultResponse(answer) || answer.result.resultType !== undefined) return answer;
  if (request.params?._meta?.[versionMember] === undefined) return answer;
  return { ...answer, result: { ...answer.result, resultType: 'complete' } };
}
