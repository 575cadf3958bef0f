import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server';
import { callerOf } from '../../mcp/building-blocks.ts';
import type { Backend, Caller, JsonRpcError, McpLike, Message } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { BackendFailure } from '../backends/backend-errors.ts';
import type { Eras } from './eras.ts';
import { callerFor, TranslatingServer } from './translating-server.ts';

/** Options of the server for a caller of an older revision. */
interface EraServerOptions {
  eras: Eras;
  /** Creates the server of the older revisions. */
  makeLegacy(): McpLike | Promise<McpLike>;
  /** Returns the remaining time of the caller for its start, in milliseconds. */
  leftMs(): number;
  /** Backend of 2026-07-28. */
  modern: Backend;
  /** Owner; absent if each message names its sender. */
  authInfo: AuthInfo | undefined;
  /** Called when `initialize` is answered, also with an error. */
  answered(): void;
}

type Given = { message: Message; extra: MessageExtraInfo | undefined };
type Answered = Message & { error?: JsonRpcError };

/** Failures that may mean that the server did not understand the request. */
const notUnderstood: ReadonlySet<unknown> = new Set<BackendFailure>(['backend_refused', 'backend_not_mcp']);
const sessionLost: BackendFailure = 'backend_session_lost';

/**
 * An MCP server of the older revisions, whatever eras its server speaks: that server itself if it accepts `initialize`,
 * or a translation of 2026-07-28 if it speaks nothing else.
 * @see MCP 2026-07-28 "Versioning" (B1-09, B5-15, B5-16)
 */
export class EraServer implements McpLike {
  readonly #options: EraServerOptions;
  #transport: Transport | undefined;
  /** The current server. */
  #inner: { server: McpLike; line: InnerLine } | undefined;
  /** Messages that wait until the era is known. */
  #held: Given[] | undefined = [];
  #forgetWatch: (() => void) | undefined;
  #isClosed = false;

  constructor(options: EraServerOptions) {
    this.#options = options;
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message, extra) => this.#take({ message: message as Message, extra });
    await transport.start();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forgetWatch?.();
    await this.#inner?.server.close();
    await this.#transport?.close();
  }

  #take(given: Given): void {
    if (this.#held && given.message.method === 'initialize') void this.#begin(given);
    else if (this.#held) this.#held.push(given);
    else this.#inner?.line.onmessage?.(given.message as JSONRPCMessage, given.extra);
  }

  async #begin(initialize: Given): Promise<void> {
    const { eras, authInfo } = this.#options;
    const sender = initialize.extra?.authInfo;
    const caller = callerFor(authInfo ?? (sender && callerOf({ authInfo: sender })));
    const isModern = eras.speaksLegacy === false && (await eras.speaksModern(caller));
    const answer = isModern ? await this.#translate(initialize) : await this.#tryLegacy(initialize, caller);
    this.#options.answered();
    if (this.#isClosed) return;
    await this.#transport?.send(answer as JSONRPCMessage);
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const given of held) this.#take(given);
  }

  async #tryLegacy(initialize: Given, caller: Caller): Promise<Answered> {
    const { eras, makeLegacy, leftMs } = this.#options;
    const server = await makeLegacy();
    const answer = await this.#initialize(server, initialize);
    if (!answer.error) eras.speaksLegacy = true;
    if (!answer.error || !isRefusal(answer.error)) return answer;
    if (!(await eras.speaksModernAlone(caller, leftMs()))) return answer;
    // What a server refuses one client, others have been let begin: that is not for all to know.
    eras.speaksLegacy ??= false;
    this.#inner?.line.abandon();
    // Only then, as what it has started may go on as one of 2026-07-28.
    const translated = await this.#translate(initialize);
    await server.close();
    return translated;
  }

  #translate(initialize: Given): Promise<Answered> {
    const { eras, modern, authInfo } = this.#options;
    // A translation of what is not spoken any more answers nobody; a new conversation finds out anew.
    this.#forgetWatch = eras.onOutdated(() => void this.close());
    return this.#initialize(new TranslatingServer(modern, authInfo), initialize);
  }

  /** Connects a server, and returns its response to `initialize`. */
  async #initialize(server: McpLike, { message, extra }: Given): Promise<Answered> {
    const { promise, resolve } = Promise.withResolvers<Answered>();
    const line = new InnerLine({
      said: (said, options) => {
        if ((said as Message).id === message.id && !('method' in said)) resolve(said as Answered);
        else this.#say(said, options);
      },
      closed: () => {
        resolve({ jsonrpc: '2.0', id: message.id, error: ended } as Answered);
        void this.close();
      },
    });
    this.#inner = { server, line };
    if (this.#isClosed) await server.close();
    else {
      await server.connect(line);
      line.onmessage?.(message as JSONRPCMessage, extra);
    }
    const answer = await promise;
    line.handOver((said, options) => this.#say(said, options));
    return answer;
  }

  #say(message: JSONRPCMessage, options: TransportSendOptions | undefined): void {
    void this.#transport?.send(message, options);
    const { error } = message as Answered;
    const { reason } = Object(error?.data) as { reason?: unknown };
    if (reason !== sessionLost) return;
    // It may have become one of 2026-07-28 alone: who begins a new session finds out.
    this.#options.eras.speaksLegacy = undefined;
    void this.close();
  }
}

/** Returns true if a server rejected `initialize`. False if it failed, or if the caller lacks credentials. */
function isRefusal({ data }: JsonRpcError): boolean {
  const { reason } = Object(data) as { reason?: unknown };
  return (
    typeof reason !== 'string' || !/^(?:backend|credentials?)_/.test(reason) || notUnderstood.has(reason)
  );
}

const ended: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server ended before it answered.',
};

/** Receives the messages of a server. */
interface LineTaker {
  said(message: JSONRPCMessage, options: TransportSendOptions | undefined): void;
  /** The server closed the transport. */
  closed(): void;
}

/** The transport to the current server. */
class InnerLine implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  #taker: LineTaker;
  #isAbandoned = false;

  constructor(taker: LineTaker) {
    this.#taker = taker;
  }

  handOver(said: LineTaker['said']): void {
    this.#taker = { ...this.#taker, said };
  }

  /** Ignores all later messages. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!this.#isAbandoned) this.#taker.said(message, options);
  }

  async close(): Promise<void> {
    if (this.#isAbandoned) return;
    this.#isAbandoned = true;
    this.onclose?.();
    this.#taker.closed();
  }
}
