import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  ProtocolError,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { callerOf } from '../../mcp/caller.ts';
import type { Message, RequestMessage } from '../../mcp/checks/messages.ts';
import { isObject } from '../../mcp/conversations/client-abilities.ts';
import type { InitializeParams, JsonRpcError, Sender } from '../../mcp/conversations/conversation.ts';
import { internalError, methodNotFound, requestCancelled } from '../../mcp/json-rpc-errors.ts';
import type { McpLike } from '../../mcp/mcp-like.ts';
import type { Cursors } from '../../mcp/paging.ts';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import { backendError } from '../backends/backend-errors.ts';
import { withAbsence } from '../steps/absence.ts';
import type { Answer } from '../steps/step.ts';
import { joinCapabilities, unknownCapabilities } from './capabilities.ts';
import { maxToolNameLength, splitName } from './final-names.ts';
import { gather, type Missing } from './gathering.ts';
import { Member, type MemberBackend, type MemberListener } from './member.ts';
import { finalEntry, finalResult, finalSaying, type ListKind, listKinds, ownRequest } from './renaming.ts';

/** What a server made of several is made with. */
export interface AggregateServerOptions {
  /** What people call it. */
  name: string;
  backends: readonly MemberBackend[];
  cursors: Cursors;
  logger: Pick<Logger, 'warn'>;
  /** Whose it is; absent where it is one for all. */
  authInfo?: AuthInfo | undefined;
  closed(server: AggregateServer): void;
}

/** A request that a backend has not answered. */
interface Pending {
  member: Member;
  /** Id of the request of the client it belongs to. */
  of: RequestId;
  take(answer: Answer): void;
}

type Fields = Record<string, unknown>;

/** How long a backend may take for its part of a list, in milliseconds; then the list is given without it. */
const listMs = 20_000;

/** Where lists say which backends they are without. */
const unavailableMember = 'mcp-gatehouse/unavailable';

/**
 * An MCP server of the revisions up to 2025-11-25 that is made of several: the names of each have its key before them,
 * lists are joined, and one that fails takes no other along.
 * @see C8-07, T-160
 */
export class AggregateServer implements McpLike {
  readonly #options: AggregateServerOptions;
  readonly #members: readonly Member[];
  readonly #pending = new Map<RequestId, Pending>();
  /** Requests of the client that are not answered. */
  readonly #running = new Set<RequestId>();
  /** Who asked the client what, by the id of the question: these are unique in the installation. */
  readonly #asked = new Map<unknown, Member>();
  #transport: Transport | undefined;
  #initialize: InitializeParams | undefined;
  #sender: Sender;
  #level: unknown;
  #isInitialized = false;
  #lastId = 0;

  constructor(options: AggregateServerOptions) {
    const { backends, authInfo, logger } = options;
    this.#options = options;
    this.#sender = authInfo ? { authInfo } : {};
    const listener: MemberListener = {
      hear: (member, message, relatedTo) => this.#hear(member, message, relatedTo),
      cameBack: (member) => this.#cameBack(member),
      ended: (member) => this.#memberEnded(member),
      noteError: (member, error) =>
        logger.warn({ err: error, backend: member.backend.name }, 'a backend could not be begun with'),
    };
    const beginning = () => ({ initialize: this.#initialize as InitializeParams, sender: this.#sender });
    this.#members = backends.map((backend) => new Member(backend, beginning, listener));
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message, extra) => this.#take(message as Message, this.#senderOf(extra));
    await transport.start();
  }

  async close(): Promise<void> {
    this.#options.closed(this);
    this.#running.clear();
    await Promise.all(this.#members.map((member) => member.close()));
    await this.#transport?.close();
  }

  #senderOf(extra: MessageExtraInfo | undefined): Sender {
    const { authInfo } = extra ?? {};
    return authInfo ? { authInfo: callerOf({ authInfo }) } : this.#sender;
  }

  /** Takes a message of the client. */
  #take(message: Message, sender: Sender): void {
    const { id, method, params } = message;
    if (method === undefined) {
      this.#asked.get(id)?.say(message, sender);
      this.#asked.delete(id);
    } else if (id !== undefined) void this.#request(message as RequestMessage, sender);
    else if (method === 'notifications/cancelled') this.#cancel(message, sender);
    else if (method === 'notifications/progress')
      this.#asked.get(params?.progressToken)?.say(message, sender);
    else if (method === 'notifications/initialized') {
      this.#isInitialized = true;
      for (const member of this.#members) member.initialized(sender);
    } else for (const member of this.#members) member.say(message, sender);
  }

  async #request(request: RequestMessage, sender: Sender): Promise<void> {
    const { id } = request;
    this.#running.add(id);
    const answer = await this.#answer(request, sender).catch((error: unknown): Answer => {
      if (error instanceof ProtocolError) return { error: { code: error.code, message: error.message } };
      this.#options.logger.warn({ err: error, backend: this.#options.name }, 'a request failed inside');
      return { error: internalError };
    });
    if (this.#running.delete(id)) this.#say({ jsonrpc: '2.0', id, ...answer } as Message);
  }

  async #answer(request: RequestMessage, sender: Sender): Promise<Answer> {
    const { method, params } = request;
    const list = listKinds.get(method);
    if (list) return this.#list(list, request, sender);
    switch (method) {
      case 'initialize':
        return this.#begin(params as unknown as InitializeParams);
      case 'ping':
        return { result: {} };
      case 'logging/setLevel':
        this.#level = params?.level;
        for (const member of this.#members) this.#setLevel(member, sender);
        return { result: {} };
      default:
        return this.#forward(request, sender);
    }
  }

  async #begin(initialize: InitializeParams): Promise<Answer> {
    this.#initialize = initialize;
    const missing = await gather(this.#members);
    const [first] = missing;
    if (first && missing.length === this.#members.length) return { error: first.error };
    for (const { member } of missing) member.missed();
    const can = this.#members.map(
      (member) => member.result?.capabilities ?? member.backend.known ?? unknownCapabilities,
    );
    const instructions = this.#instructions(missing);
    return {
      result: {
        protocolVersion: initialize.protocolVersion,
        capabilities: joinCapabilities(can),
        serverInfo: { name: this.#options.name, version: '1' },
        ...(instructions && { instructions }),
        ...this.#unavailable(missing),
      },
    };
  }

  #instructions(missing: readonly Missing[]): string {
    const away = missing.map(({ member }) => member);
    return this.#members
      .flatMap((member) => {
        const { key, result } = member;
        if (away.includes(member)) return [`# ${key}\n\nNot available at present.`];
        return typeof result?.instructions === 'string' && result.instructions !== ''
          ? [`# ${key}\n\nTools and prompts: ${key}_…; resources: ${key}+….\n\n${result.instructions}`]
          : [];
      })
      .join('\n\n');
  }

  /** Hands a request to the backend whose name or URI it has. */
  async #forward(request: RequestMessage, sender: Sender): Promise<Answer> {
    const own = ownRequest(request);
    const { method, id } = request;
    const member = own && this.#members.find(({ key }) => key === own.key);
    if (!member) return { error: this.#nobodys(request) };
    const missing = await member.ready();
    if (missing) return { error: missing };
    if (!this.#running.has(id)) return { error: requestCancelled };
    const { uri } = own.request.params ?? {};
    if (method === 'resources/subscribe') member.subscribed.add(String(uri));
    if (method === 'resources/unsubscribe') member.subscribed.delete(String(uri));
    const { task: _task, ...params } = own.request.params ?? {};
    const answer = await this.#ask(member, { id, method, params }, sender);
    if (!answer.result) {
      if (method === 'resources/subscribe') member.subscribed.delete(String(uri));
      return answer;
    }
    return { result: finalResult(member.key, method, answer.result) };
  }

  #nobodys({ method, params = {} }: RequestMessage): JsonRpcError {
    const keys = this.#members.map(({ key }) => key).join(', ');
    const { uri, name } = params;
    if (method.startsWith('resources/'))
      return {
        code: errorCodes.resourceNotFound,
        message: `Resource not found: URIs begin with the backend they are of (${keys}) and +.`,
        data: { uri },
      };
    if (method !== 'tools/call' && method !== 'prompts/get' && method !== 'completion/complete')
      return methodNotFound;
    const what = typeof name === 'string' ? `${name} is not found` : 'It is not found';
    return {
      code: errorCodes.invalidParams,
      message: `${what}: names begin with the backend they are of (${keys}) and _; URIs with + in its place.`,
    };
  }

  /** Asks a backend; the answer comes when it has answered, was cancelled, or ended. */
  #ask(
    member: Member,
    { id: of, method, params }: { id: RequestId; method: string; params: Fields },
    sender: Sender,
  ): Promise<Answer> {
    return new Promise((take) => {
      const id = ++this.#lastId;
      this.#pending.set(id, { member, of, take });
      member.say({ jsonrpc: '2.0', id, method, params }, sender);
    });
  }

  async #list(list: ListKind, request: RequestMessage, sender: Sender): Promise<Answer> {
    const { method, id, params: { cursor, _meta: _ignored, ...params } = {} } = request;
    const { cursors } = this.#options;
    const scope = sender.authInfo && principalKey(sender.authInfo);
    const positions =
      typeof cursor === 'string' && cursor !== ''
        ? new Map(JSON.parse(cursors.read(cursor, method, scope)) as [string, string][])
        : undefined;
    const asked = this.#members.filter(({ key }) => !positions || positions.has(key));
    const missing = await gather(asked);
    const parts = await Promise.all(
      asked
        .filter(({ result, isOpen }) => isOpen && result?.capabilities[list.capability] !== undefined)
        .map(async (member) => {
          const at = positions?.get(member.key);
          const page = at === undefined ? params : { ...params, cursor: at };
          const answer = await this.#part(member, { id, method, params: page }, sender);
          return { member, answer };
        }),
    );
    const entries: Fields[] = [];
    const next: [string, string][] = [];
    for (const { member, answer } of parts) {
      const { result, error } = answer;
      if (error && error.code !== errorCodes.methodNotFound) missing.push({ member, error });
      const own = result?.[list.member];
      if (Array.isArray(own)) entries.push(...this.#entries(member, list, own));
      if (typeof result?.nextCursor === 'string') next.push([member.key, result.nextCursor]);
    }
    for (const { member } of missing) if (!member.isOpen) member.missed();
    this.#warn(missing, id);
    const nextCursor = next.length > 0 && cursors.write(JSON.stringify(next), method, scope);
    const result = {
      [list.member]: entries,
      ...(nextCursor && { nextCursor }),
      ...this.#unavailable(missing),
    };
    if (missing.length === 0) return { result };
    const away = new Map(missing.map(({ member, error }) => [member.key, error]));
    return { result: withAbsence(result, (name) => away.get(splitName(name)?.key ?? '')) };
  }

  /** Asks a backend for its part of a list, for as long as others are kept waiting for it. */
  async #part(
    member: Member,
    question: { id: RequestId; method: string; params: Fields },
    sender: Sender,
  ): Promise<Answer> {
    const timer = setTimeout(() => {
      const error = backendError('backend_call_timed_out', member.backend.name);
      this.#giveUp((pending) => pending.member === member && pending.of === question.id, error, sender);
    }, listMs).unref();
    return this.#ask(member, question, sender).finally(() => clearTimeout(timer));
  }

  #entries(member: Member, list: ListKind, own: readonly unknown[]): Fields[] {
    return own.flatMap((entry) => {
      const final = finalEntry(member.key, list, entry);
      if (!final) return [];
      if (list.member === 'tools') {
        if (String(final.name).length > maxToolNameLength) {
          this.#options.logger.warn(
            { backend: member.backend.name, length: String(final.name).length },
            'a tool is left out: its name and the key of its backend are longer than 128 characters; give a shorter key',
          );
          return [];
        }
        delete final.execution;
      }
      return [final];
    });
  }

  /** What is said of backends that are missing, in the `_meta` of a result that is good for this moment only. */
  #unavailable(missing: readonly Missing[]): Fields {
    if (missing.length === 0) return {};
    const named = missing.map(({ member: { key }, error: { message, data } }) => ({
      backend: key,
      message,
      ...(isObject(data) && typeof data.reason === 'string' && { reason: data.reason }),
    }));
    return { ttlMs: 0, _meta: { [unavailableMember]: named } };
  }

  #warn(missing: readonly Missing[], of: RequestId): void {
    for (const { member, error } of missing) {
      const { key, backend } = member;
      this.#options.logger.warn(
        {
          backend: backend.name,
          errorCode: error.code,
          reason: isObject(error.data) ? error.data.reason : undefined,
        },
        'a list is given without a backend that does not answer',
      );
      if (this.#level === undefined) continue;
      const params = { level: 'warning', logger: key, data: error.message };
      this.#say({ jsonrpc: '2.0', method: 'notifications/message', params }, of);
    }
  }

  #setLevel(member: Member, sender: Sender): void {
    if (this.#level === undefined || member.result?.capabilities.logging === undefined) return;
    const id = ++this.#lastId;
    member.say({ jsonrpc: '2.0', id, method: 'logging/setLevel', params: { level: this.#level } }, sender);
  }

  #cancel({ params }: Message, sender: Sender): void {
    const of = params?.requestId as RequestId;
    this.#running.delete(of);
    this.#giveUp((pending) => pending.of === of, requestCancelled, sender, params?.reason);
  }

  /** Waits no longer for answers, and tells those who were to give them. */
  #giveUp(which: (pending: Pending) => boolean, error: JsonRpcError, sender: Sender, reason?: unknown): void {
    for (const [requestId, pending] of [...this.#pending]) {
      if (!which(pending)) continue;
      this.#pending.delete(requestId);
      const params = { requestId, ...(typeof reason === 'string' && { reason }) };
      pending.member.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, sender);
      pending.take({ error });
    }
  }

  /** Takes what a backend says. */
  #hear(member: Member, message: Message, relatedTo: RequestId | undefined): void {
    const { id, method, params } = message;
    if (method === undefined) {
      const pending = id === undefined ? undefined : this.#pending.get(id);
      if (pending?.member !== member || id === undefined) return;
      this.#pending.delete(id);
      const { result, error } = message as Message & Answer;
      pending.take(error ? { error } : { result: result ?? {} });
      return;
    }
    if (method.startsWith('notifications/tasks/')) return;
    if (id !== undefined) this.#asked.set(id, member);
    if (method === 'notifications/cancelled') this.#asked.delete(params?.requestId);
    const of = relatedTo === undefined ? undefined : this.#pending.get(relatedTo)?.of;
    this.#say(finalSaying(member.key, message), of);
  }

  /** A backend that was missing is there: it is told what it missed, and the client that lists have changed. */
  #cameBack(member: Member): void {
    const sender = this.#sender;
    if (!this.#isInitialized) return;
    member.initialized(sender);
    this.#setLevel(member, sender);
    for (const uri of member.subscribed) {
      const id = ++this.#lastId;
      member.say({ jsonrpc: '2.0', id, method: 'resources/subscribe', params: { uri } }, sender);
    }
    for (const capability of ['tools', 'prompts', 'resources'])
      if (member.result?.capabilities[capability] !== undefined)
        this.#say({ jsonrpc: '2.0', method: `notifications/${capability}/list_changed` });
  }

  #memberEnded(member: Member): void {
    const error = backendError('backend_ended', member.backend.name);
    for (const [id, pending] of [...this.#pending])
      if (pending.member === member) {
        this.#pending.delete(id);
        pending.take({ error });
      }
    for (const [id, asker] of [...this.#asked]) if (asker === member) this.#asked.delete(id);
  }

  #say(message: Message, relatedTo?: RequestId): void {
    const related = relatedTo === undefined ? undefined : { relatedRequestId: relatedTo };
    void this.#transport?.send(message as JSONRPCMessage, related);
  }
}
