import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, MessageExtraInfo, RequestId, Transport } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import {
  type CallContext,
  callerOf,
  ownData,
  patienceOf,
  requestCancelled,
  toSdkAuthInfo,
  withoutPatience,
} from '../../mcp/building-blocks.ts';
import type { JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { type Chain, SteppedRequest, type Way } from './chain.ts';
import type { Answer, Line } from './step.ts';

const late: Answer = {
  error: {
    code: errorCodes.internalError,
    message:
      'The MCP server did not answer what the gateway asked it for this request within 10 s. Send the request again.',
    data: ownData({ reason: 'backend_timed_out' }),
  },
};

const notOfClient: JsonRpcError = {
  code: errorCodes.invalidParams,
  message: 'Invalid params: this is about nothing that the client of this connection has.',
};

/** Maximum time for the response to a request of the gateway itself, in milliseconds: a client waits meanwhile. */
const patienceMs = 10_000;

/** Running requests at the server. */
interface Asked {
  take(answer: Answer): void;
  /** Request of each progress token, and its owner. */
  request: SteppedRequest | undefined;
}

/**
 * Transport between the gate and a server of the older revisions: requests and their responses pass through the steps,
 * everything else passes unchanged.
 */
export class PolicyTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  readonly #front: Transport;
  readonly #chain: Chain;
  readonly #caller: AuthInfo | undefined;
  /** Requests of clients on their way through the steps. */
  readonly #passing = new InFlightMap<RequestId, SteppedRequest>();
  readonly #asked = new InFlightMap<RequestId, Asked>();
  /** Prefix of ids, unique for the connection: some servers send every response to all connections. */
  readonly #ownIds = `gatehouse-${randomUUID()}-`;
  #lastOwnId = 0;

  /** @param caller owner of the server; the sender of a message takes precedence */
  constructor(front: Transport, chain: Chain, caller: AuthInfo | undefined) {
    this.#front = front;
    this.#chain = chain;
    this.#caller = caller;
    front.onmessage = (message, extra) => this.#take(message as Message, extra);
    front.onclose = () => this.onclose?.();
    front.onerror = (error) => this.onerror?.(error);
  }

  get sessionId(): string | undefined {
    return this.#front.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#front.setProtocolVersion?.(version);
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#front.setSupportedProtocolVersions?.(versions);
  }

  start(): Promise<void> {
    return this.#front.start();
  }

  /** Takes a message of the server. */
  async send(message: JSONRPCMessage, options?: Parameters<Transport['send']>[1]): Promise<void> {
    const said = message as Message & Answer;
    const asked = said.method === undefined && said.id !== undefined ? this.#asked.get(said.id) : undefined;
    if (asked) {
      this.#asked.delete(said.id as RequestId);
      asked.take(said.error ? { error: said.error } : { result: said.result ?? {} });
      return;
    }
    if (said.method !== undefined) this.#noteSign(said);
    if (said.method === undefined) return this.#front.send(message, options);
    const relayed = this.#chain.mayTell(said, this.#lineOf(undefined))
      ? this.#chain.relay(said)
      : { refusal: notOfClient };
    if (!('refusal' in relayed)) return this.#front.send(relayed as JSONRPCMessage, options);
    const { id } = said;
    if (id !== undefined)
      queueMicrotask(() =>
        this.onmessage?.({ jsonrpc: '2.0', id, error: relayed.refusal } as JSONRPCMessage),
      );
  }

  /** The server closes the transport: the gate answers the running requests. */
  async close(): Promise<void> {
    for (const request of this.#passing.values()) request.cancel();
    this.#passing.clear();
    const waiting = this.#asked.values();
    this.#asked.clear();
    await this.#front.close();
    for (const { take } of waiting) take({ error: requestCancelled });
  }

  /** Sends a request of the gateway itself; it never waits for a user. */
  #ask(
    method: string,
    params: Record<string, unknown>,
    extra: MessageExtraInfo | undefined,
  ): Promise<Answer> {
    const id = `${this.#ownIds}${++this.#lastOwnId}`;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#cancelAtServer(id, extra);
    }, patienceMs).unref();
    const answer = this.#handOver({ jsonrpc: '2.0', id, method, params }, impatient(extra), undefined);
    return answer.then((given) => (isLate ? late : given)).finally(() => clearTimeout(timer));
  }

  /** Takes a message of the client. */
  #take(message: Message, extra: MessageExtraInfo | undefined): void {
    const { id, method } = message;
    if (method === undefined) for (const request of this.#passing.values()) request.progress();
    const way = id !== undefined && method !== undefined ? this.#chain.wayOf(method) : undefined;
    if (way) void this.#guide(way, message as RequestMessage, extra);
    else if (method === 'notifications/cancelled' && this.#cancel(message, extra)) return;
    else if (id !== undefined || method === undefined || this.#chain.mayPass(message, this.#lineOf(extra)))
      this.onmessage?.(message as JSONRPCMessage, extra);
  }

  #lineOf(extra: MessageExtraInfo | undefined): Line {
    return { caller: callerIn(extra) ?? this.#caller, behind: this };
  }

  async #guide(way: Way, request: RequestMessage, extra: MessageExtraInfo | undefined): Promise<void> {
    const { id } = request;
    const stepped = new SteppedRequest({
      caller: callerIn(extra) ?? this.#caller,
      era: 'legacy',
      behind: this,
      ask: (method, params) => this.#ask(method, params, extra),
    });
    this.#passing.set(id, stepped);
    const answer = await way(request, stepped, (passed) =>
      stepped.isCancelled
        ? Promise.resolve({ error: requestCancelled })
        : this.#handOver({ ...passed, id }, extra, stepped),
    );
    if (this.#passing.get(id) !== stepped) return;
    this.#passing.delete(id);
    this.#cancelAtServer(id, extra);
    void this.#front.send({ jsonrpc: '2.0', id, ...answer } as JSONRPCMessage);
  }

  #handOver(
    request: RequestMessage,
    extra: MessageExtraInfo | undefined,
    stepped: SteppedRequest | undefined,
  ): Promise<Answer> {
    return new Promise((take) => {
      this.#asked.set(request.id, { take, request: stepped });
      this.onmessage?.(request as JSONRPCMessage, extra);
    });
  }

  /**
   * Cancels a request of a client on its way.
   * @returns false if there is none
   */
  #cancel(cancellation: Message, extra: MessageExtraInfo | undefined): boolean {
    const id = cancellation.params?.requestId as RequestId;
    const stepped = this.#passing.get(id);
    if (!stepped) return false;
    this.#passing.delete(id);
    stepped.cancel();
    this.#cancelAtServer(id, extra, cancellation);
    return true;
  }

  /** Cancels a request at the server, if it has not answered. */
  #cancelAtServer(id: RequestId, extra: MessageExtraInfo | undefined, cancellation?: Message): void {
    const asked = this.#asked.get(id);
    if (!asked) return;
    this.#asked.delete(id);
    const told = cancellation ?? {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: id, reason: 'Nobody waits for the answer any more.' },
    };
    this.onmessage?.(told as JSONRPCMessage, extra);
    asked.take({ error: requestCancelled });
  }

  /**
   * Takes note of other messages of the server: changes concern the steps, all others show that it works on a request.
   */
  #noteSign(said: Message): void {
    if (said.method === 'notifications/progress')
      this.#asked.get(said.params?.progressToken as RequestId)?.request?.progress();
    else if (said.id !== undefined) for (const request of this.#passing.values()) request.progress();
    else this.#chain.hear(said, this);
  }
}

function callerIn(extra: MessageExtraInfo | undefined): AuthInfo | undefined {
  return extra?.authInfo ? callerOf(extra as CallContext) : undefined;
}

function impatient(extra: MessageExtraInfo | undefined): MessageExtraInfo | undefined {
  const caller = callerIn(extra);
  if (!caller || patienceOf(caller) === 0) return extra;
  return { ...extra, authInfo: toSdkAuthInfo(withoutPatience(caller)) };
}
