import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  ProtocolError,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import {
  type Cursors,
  callerOf,
  internalError,
  methodNotFound,
  noteCall,
  requestCancelled,
} from '../../mcp/building-blocks.ts';
import {
  type InitializeParams,
  isRecord,
  type JsonRpcError,
  type McpLike,
  type Message,
  type RequestMessage,
  type Sender,
} from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Answer } from '../steps/step.ts';
import { withAbsence } from '../steps/tool-definitions.ts';
import { splitName } from './final-names.ts';
import { joinList } from './joined-lists.ts';
import {
  gather,
  Member,
  type MemberBackend,
  type MemberListener,
  type Missing,
  reasonOf,
  sayMissing,
} from './member.ts';
import { OpenQuestions } from './open-questions.ts';
import { finalError, finalResult, finalSaying, type ListKind, listKinds, ownRequest } from './renaming.ts';

/** Options of the server for several backends. */
interface AggregateServerOptions {
  /** Display name. */
  name: string;
  backends: readonly MemberBackend[];
  cursors: Cursors;
  logger: Pick<Logger, 'warn'>;
  /** Owner; absent if the server serves everybody. */
  authInfo?: AuthInfo | undefined;
  /** Called when the server is closed for good. */
  closed(server: AggregateServer): void;
}

/**
 * An MCP server of the revisions up to 2025-11-25 in front of several backends. Their names get a prefix, their lists
 * are joined, and a failing backend does not affect the others.
 * @see C8-07, T-160
 */
export class AggregateServer implements McpLike {
  readonly #options: AggregateServerOptions;
  readonly #members: readonly Member[];
  readonly #questions = new OpenQuestions();
  /** Running requests of the client. */
  readonly #running = new Set<RequestId>();
  /** Backends that sent a request to the client, by the id of the request; ids are unique in the installation. */
  readonly #asked = new Map<unknown, Member>();
  #transport: Transport | undefined;
  #initialize: InitializeParams | undefined;
  #sender: Sender;
  #level: unknown;
  #isInitialized = false;

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
      for (const member of this.#members) {
        member.initialized(sender);
        // It may have come while nobody could be told that yet.
        this.#setLevel(member, sender);
      }
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
    return { result: introduction(this.#options.name, initialize.protocolVersion, this.#members, missing) };
  }

  /** Passes a request to the backend that its name or URI belongs to. */
  async #forward(request: RequestMessage, sender: Sender): Promise<Answer> {
    const own = ownRequest(request);
    const { method, id } = request;
    const member = own && this.#members.find(({ key }) => key === own.key);
    if (!member) {
      const keys = this.#members.map(({ key }) => key);
      return { error: unknownName(request, keys) };
    }
    noteCall({ backend: member.key });
    const missing = await member.ready();
    if (missing) return { error: missing };
    if (!this.#running.has(id)) return { error: requestCancelled };
    const { uri } = own.request.params ?? {};
    if (method === 'resources/subscribe') member.subscribed.add(String(uri));
    if (method === 'resources/unsubscribe') member.subscribed.delete(String(uri));
    const { task: _task, ...params } = own.request.params ?? {};
    const answer = await this.#questions.ask(member, { of: id, method, params }, sender);
    if (!answer.result) {
      if (method === 'resources/subscribe') member.subscribed.delete(String(uri));
      return { error: finalError(member.key, answer.error) };
    }
    return { result: finalResult(member.key, method, answer.result) };
  }

  async #list(list: ListKind, request: RequestMessage, sender: Sender): Promise<Answer> {
    const { cursors, logger } = this.#options;
    const joining = { members: this.#members, questions: this.#questions, cursors, logger };
    const { entries, nextCursor, missing } = await joinList(list, request, sender, joining);
    if (!this.#running.has(request.id)) return { error: requestCancelled };
    for (const { member } of missing) if (!member.isOpen) member.missed();
    this.#warn(missing, request.id);
    const result = {
      [list.member]: entries,
      ...(nextCursor && { nextCursor }),
      ...sayMissing(missing),
    };
    if (missing.length === 0) return { result };
    const away = new Map(missing.map(({ member, error }) => [member.key, error]));
    return { result: withAbsence(result, (name) => away.get(splitName(name)?.key ?? '')) };
  }

  #warn(missing: readonly Missing[], of: RequestId): void {
    for (const { member, error } of missing) {
      const { key, backend } = member;
      this.#options.logger.warn(
        { backend: backend.name, errorCode: error.code, reason: reasonOf(error) },
        'a list is given without a backend that does not answer',
      );
      if (this.#level === undefined) continue;
      const params = { level: 'warning', logger: key, data: error.message };
      this.#say({ jsonrpc: '2.0', method: 'notifications/message', params }, of);
    }
  }

  #setLevel(member: Member, sender: Sender): void {
    if (this.#level === undefined || member.result?.capabilities.logging === undefined) return;
    this.#questions.tell(member, { method: 'logging/setLevel', params: { level: this.#level } }, sender);
  }

  #cancel({ params }: Message, sender: Sender): void {
    const of = params?.requestId as RequestId;
    this.#running.delete(of);
    this.#questions.giveUp(of, { error: requestCancelled, sender, reason: params?.reason });
  }

  /** Takes a message of a backend. */
  #hear(member: Member, message: Message, relatedTo: RequestId | undefined): void {
    const { id, method, params } = message;
    if (method === undefined) {
      this.#questions.answered(member, message);
      return;
    }
    if (method.startsWith('notifications/tasks/')) return;
    if (id !== undefined) this.#asked.set(id, member);
    if (method === 'notifications/cancelled') this.#asked.delete(params?.requestId);
    const of = relatedTo === undefined ? undefined : this.#questions.requestOf(relatedTo);
    this.#say(finalSaying(member.key, message), of);
  }

  /**
   * A missing backend is available: sends it the state of the session, and notifies the client that lists have changed.
   */
  #cameBack(member: Member): void {
    const sender = this.#sender;
    if (!this.#isInitialized) return;
    member.initialized(sender);
    this.#setLevel(member, sender);
    for (const uri of member.subscribed)
      this.#questions.tell(member, { method: 'resources/subscribe', params: { uri } }, sender);
    for (const capability of ['tools', 'prompts', 'resources'])
      if (member.result?.capabilities[capability] !== undefined)
        this.#say({ jsonrpc: '2.0', method: `notifications/${capability}/list_changed` });
  }

  #memberEnded(member: Member): void {
    this.#questions.ended(member);
    for (const [id, asker] of [...this.#asked]) if (asker === member) this.#asked.delete(id);
  }

  #say(message: Message, relatedTo?: RequestId): void {
    const related = relatedTo === undefined ? undefined : { relatedRequestId: relatedTo };
    void this.#transport?.send(message as JSONRPCMessage, related);
  }
}

/**
 * Builds the response to `initialize` for several backends: their joined capabilities and instructions.
 * @param name display name for all of them
 * @param missing backends that could not be started
 * @see MCP 2025-11-25 lifecycle "Initialization" (C8-07)
 */
export function introduction(
  name: string,
  protocolVersion: string,
  members: readonly Member[],
  missing: readonly Missing[],
): Record<string, unknown> {
  const away = new Set(missing.map(({ member }) => member));
  const can = members.map(
    ({ result, backend }) => result?.capabilities ?? backend.known ?? unknownCapabilities,
  );
  const instructions = members
    .flatMap((member) => (away.has(member) ? `# ${member.key}\n\nNot available at present.` : saying(member)))
    .join('\n\n');
  return {
    protocolVersion,
    capabilities: joinCapabilities(can),
    serverInfo: { name, version: '1' },
    ...(instructions && { instructions }),
    ...sayMissing(missing),
  };
}

function saying({ key, result }: Member): string | [] {
  const instructions = result?.instructions;
  if (typeof instructions !== 'string' || instructions === '') return [];
  return `# ${key}\n\nTools and prompts: ${key}_…; resources: ${key}+….\n\n${instructions}`;
}

type Capabilities = Record<string, unknown>;

/** Assumed capabilities of a backend that was never reached. */
const unknownCapabilities: Capabilities = {
  tools: {},
  prompts: {},
  resources: { subscribe: true },
};

/**
 * Joins the capabilities of backends. All lists may change, because a backend may come and go. Tasks are left out,
 * because their ids are not unique.
 */
export function joinCapabilities(all: readonly Capabilities[]): Capabilities {
  const has = (name: string): boolean => all.some((each) => isRecord(each[name]));
  const subscribe = all.some(({ resources }) => isRecord(resources) && resources.subscribe === true);
  // A client refuses all of them if one has something else than an object.
  const merged = (name: string): Capabilities =>
    Object.fromEntries(
      all
        .toReversed()
        .flatMap((each) => Object.entries(isRecord(each[name]) ? each[name] : {}))
        .filter(([, value]) => isRecord(value)),
    );
  return {
    ...(has('tools') && { tools: { listChanged: true } }),
    ...(has('prompts') && { prompts: { listChanged: true } }),
    ...(has('resources') && { resources: { listChanged: true, ...(subscribe && { subscribe }) } }),
    ...(has('logging') && { logging: {} }),
    ...(has('completions') && { completions: {} }),
    ...(has('experimental') && { experimental: merged('experimental') }),
    ...(has('extensions') && { extensions: merged('extensions') }),
  };
}

const resourceMethods = new Set(['resources/read', 'resources/subscribe', 'resources/unsubscribe']);
const namingMethods = new Set(['tools/call', 'prompts/get', 'completion/complete']);

/**
 * Builds the error for a name of no backend, with the known prefixes.
 * @param keys keys of the backends
 * @see MCP 2025-11-25 resources "Error Handling"
 */
export function unknownName(
  { method, params = {} }: Pick<RequestMessage, 'method' | 'params'>,
  keys: readonly string[],
): JsonRpcError {
  const { uri, name } = params;
  const known = keys.join(', ');
  if (resourceMethods.has(method))
    return {
      code: errorCodes.resourceNotFound,
      message: `Resource not found: URIs begin with the backend they are of (${known}) and +.`,
      data: { uri },
    };
  if (!namingMethods.has(method)) return methodNotFound;
  const what = typeof name === 'string' ? `${name} is not found` : 'It is not found';
  return {
    code: errorCodes.invalidParams,
    message: `${what}: names begin with the backend they are of (${known}) and _; URIs with + in its place.`,
  };
}
