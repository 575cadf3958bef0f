import type { IncomingHttpHeaders } from 'node:http';
import {
  LOG_LEVEL_META_KEY,
  RELATED_TASK_META_KEY,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { isExactNumber, isId } from '../collections/exact-json.ts';
import type { AuthInfo } from '../oauth/auth-info.ts';
import { errorCodes } from '../oauth/mcp-error-codes.ts';
import type { Refusal } from './http/refusal.ts';

/** The newest revision that begins with `initialize`. */
export const newestLegacyRevision = '2025-11-25';

/** The one revision with batches. */
export const revisionWithBatches = '2025-03-26';

/** Revisions that begin with `initialize` and are served, newest first; the only ones that are negotiated. */
export const legacyRevisions: readonly string[] = [
  newestLegacyRevision,
  '2025-06-18',
  revisionWithBatches,
  '2024-11-05',
];

/** The revision without sessions: the "modern" era. */
export const modernRevision = '2026-07-28';

/** A JSON-RPC message. Only its frame was checked. */
export interface Message {
  jsonrpc: '2.0';
  /** Absent on notifications. */
  id?: RequestId;
  /** Absent on responses. */
  method?: string;
  params?: Record<string, unknown>;
}

/** A JSON-RPC request. */
export interface RequestMessage extends Message {
  id: RequestId;
  method: string;
}

/** The messages of one body or line. */
export interface Frames {
  isBatch: boolean;
  list: readonly Message[];
  /** The requests of the list. */
  requests: readonly RequestMessage[];
}

/** A JSON-RPC error object. */
export interface JsonRpcError {
  code: number;
  message: string;
  data?: unknown;
}

/**
 * Returns true if a JSON value is an object: neither null nor an array, nor a number that is kept as it was written.
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** The interface of an MCP server that Gatehouse needs. `McpServer` and `Server` of the SDK, version 2 or 1, have it. */
export interface McpLike {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

/** The era and the caller that a server is made for. */
export interface ServerContext {
  /** `legacy`: revisions up to 2025-11-25; `modern`: 2026-07-28. */
  era: 'legacy' | 'modern';
  /** The caller who opened the session or sent the request. Absent if one server serves all callers. */
  authInfo?: AuthInfo;
}

/**
 * A source of MCP servers, and the callers that share one.
 * - `each`: every session, and every request without a session, has a server of its own.
 * - `principal`: every session has a server of its own, and the requests of one principal without a session share one.
 *   These are servers in other processes: they do not say for which call they send something.
 * - `account`: as `principal`, and all sessions and requests of one account share one, whatever the client.
 * - `everyone`: one server in another process serves all callers. Gatehouse declares no client capabilities to it, and
 *   drops messages of the server that name no call.
 * - `shared`: one server of each era serves all callers; each message carries its caller.
 * - `single`: one ready-made server serves all callers; it cannot be made again.
 */
export interface ServerSource {
  sharing: 'each' | 'principal' | 'account' | 'everyone' | 'shared' | 'single';
  create(context: ServerContext): McpLike | Promise<McpLike>;
  /**
   * Returns the backend that serves requests of 2026-07-28 itself: a server in another process that speaks that
   * revision. Called for every request, so it has to remember. Its maker closes it.
   * @returns undefined if there is none at present: then the servers of {@link create} serve the request
   */
  modern?(caller: Caller): Promise<Backend | undefined>;
}

/**
 * Returns true if the servers of a source run in other processes, so that they do not say for which call they send
 * something.
 */
export function isElsewhere({ sharing }: Pick<ServerSource, 'sharing'>): boolean {
  return sharing === 'principal' || sharing === 'account' || sharing === 'everyone';
}

/** The client's part of `initialize`. */
export interface InitializeParams {
  protocolVersion: string;
  capabilities: Record<string, unknown>;
  clientInfo: { name: string; version: string };
  [name: string]: unknown;
}

/** The response of a server to `initialize`. */
export interface InitializeResult {
  protocolVersion: string;
  capabilities: Record<string, unknown>;
  serverInfo: { name: string; version: string };
  [name: string]: unknown;
}

/** The sender of a message, and the parts of its HTTP request that a tool may see (no credentials, T-105). */
export interface Sender {
  /** Absent if nobody is identified: a local host over stdio. */
  authInfo?: AuthInfo;
  /** Builds the HTTP request a tool may see; called when a tool looks, which most never do. */
  request?(): Request;
  /** True if the opener of a conversation itself answers requests for which its client declared no capability. */
  answersUndeclared?: boolean;
  /** Ends the stream the response would go to, so that the client comes back for it later (B4-02). */
  closeSSEStream?(): void;
  /** Ends the session's own stream in the same way. */
  closeStandaloneSSEStream?(): void;
}

/** Receives the messages of a server in a conversation. */
export interface Listener {
  /**
   * Takes one message of the server: a response, a request or a notification. Ids and progress tokens of the client are
   * those the client chose; ids of the server's own requests are unique in the installation.
   * @param relatedTo id of the client's request during which it was sent, if that is known
   */
  hear(message: Message, relatedTo?: RequestId): void;
  /** The server ended the conversation. */
  ended(): void;
}

/**
 * One client's conversation with an MCP server of a revision up to 2025-11-25, after `initialize`. Transports use it in
 * the same way, whether the server behind it serves this client alone or others too.
 */
export interface Conversation {
  /** The server that answers; it may declare which scopes its tools need. */
  readonly server: McpLike;
  /**
   * Sends the server a message of the client: a request, a notification, or a response to a request of the server.
   * A response that nobody waits for is dropped (T-128).
   */
  say(message: Message, sender: Sender): void;
  /** Ends it: running calls are cancelled, and the listener hears nothing more. */
  end(): Promise<void>;
}

/** A conversation that began, with the server's response to `initialize`; or the server's error. */
export type Opening = { conversation: Conversation; result: InitializeResult } | { error: JsonRpcError };

/** Begins conversations with MCP servers. */
export interface Conversations {
  /**
   * Sends `initialize` and returns the conversation. The caller has to send `notifications/initialized`.
   * @throws any error of {@link ServerSource.create}
   */
  open(initialize: InitializeParams, sender: Sender, listener: Listener): Promise<Opening>;
  /** Ends all conversations and the servers behind them. */
  close(): Promise<void>;
}

/** The response to one request of 2026-07-28: a result or an error, and the status and headers of the HTTP response. */
export type Answer = {
  status: number;
  headers?: Record<string, string>;
  /** The server that sent it, if it is known. */
  by?: McpLike;
  /** Reason if Gatehouse refused the request. */
  refusal?: string;
  /** True if a `requestState` of the result refers to what this process alone holds. */
  isHeldHere?: boolean;
} & ({ result: Record<string, unknown>; error?: undefined } | { error: JsonRpcError; result?: undefined });

/** The sender of a request of 2026-07-28, and the parts of its HTTP request that may be known behind the gate. */
export interface Caller {
  authInfo: AuthInfo;
  headers: IncomingHttpHeaders;
  /** Builds the HTTP request a tool may see, without credentials (T-105). */
  request(): Request;
}

/** A request of 2026-07-28 on its way through a server. */
export interface Call {
  readonly request: RequestMessage;
  readonly caller: Caller;
  /** Takes a notification that belongs to the request, ids and tokens those of the client. */
  notify(notification: Message): void;
  /** Takes the response; the first one counts. */
  answer(answer: Answer): void;
}

/** Result of `server/discover`. */
export interface Discovery {
  capabilities: Record<string, unknown>;
  serverInfo: unknown;
}

/** A notification for clients that listen to changes, not for a request. */
export interface Change {
  method: string;
  params?: Record<string, unknown>;
  /** Issuer and subject it is for; absent if it is for everyone. */
  account?: string;
}

/** Carries the changes of the servers of an endpoint to other nodes of the installation, and theirs to this one. */
export interface ChangeRelay {
  /** Tells other nodes of a change that this node has heard by itself. */
  tell(change: Change): void;
  /**
   * Calls back for changes at other nodes that this node has not heard by itself.
   * @param hearAll called if changes may have been lost: everything counts as changed
   * @returns ends it
   */
  listen(hear: (change: Change) => void, hearAll: () => void): () => void;
}

/** Notifications that a client of 2026-07-28 subscribes to. Absent kinds are not sent. */
export interface SubscriptionFilter {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
  /** URIs of resources. */
  resourceSubscriptions?: readonly string[];
}

/** One client that listens to changes. */
export interface ChangeListener {
  /** The server confirmed the subscription. Not called if that cannot be known. */
  begun?(): void;
  /** Takes a change; the client may or may not listen to it. */
  tell(change: Change): void;
  /** No further changes follow: the server ended, or there never was one. */
  ended(): void;
}

/** Serves the requests of 2026-07-28: one server for all of them, one for each request, or one of an older era. */
export interface Backend {
  /** The server, if it is the same for every request. */
  readonly server?: McpLike;
  /**
   * Parts of the requests' `_meta` that the backend checks and rejects with its own status: all; all but the presence
   * of the required members; or none.
   */
  readonly checksEnvelope: 'all' | 'values' | 'nothing';
  /** True if the backend checks the scopes of each request itself, because its servers may declare some. */
  readonly checksScopesItself?: boolean;
  /**
   * Starts a request.
   * @returns cancels it: nothing is heard of it any more (B5-14)
   */
  begin(call: Call): () => void;
  /** Sends a notification of a client. */
  notify(notification: Message, caller: Caller): void;
  /** Returns the server's capabilities, as far as the caller may see them. */
  discover(caller: Caller): Promise<Discovery>;
  /**
   * Listens for changes on behalf of one client, if the server reports them only to listeners.
   * @param filter notifications that the client wants
   * @returns stops it
   */
  listen?(
    filter: SubscriptionFilter,
    call: Pick<Call, 'request' | 'caller'>,
    listener: ChangeListener,
  ): () => void;
  /** Returns the input schema of a tool, if the headers of a call must be checked before the call is passed on. */
  inputSchemaOf?(tool: string, caller: Caller): Promise<unknown>;
  close(): Promise<void>;
}

/** Seals text that leaves the process, so that only Gatehouse can read it, unchanged and in the same context. */
export interface Seal {
  seal(text: string, context: string): string;
  /** @returns undefined if it was not sealed here, was changed, or was sealed in another context */
  open(sealed: string, context: string): string | undefined;
}

/** Most messages of a batch. */
export const maxBatchLength = 100;

/**
 * Reads a JSON value as one JSON-RPC message or a batch of them. Params are not read, apart from `_meta`.
 * @see JSON-RPC 2.0 sections 4 and 6; MCP 2025-03-26 "Batching" (B3-13, B3-14, C1-01, T-136)
 */
export function readFrames(value: unknown): Frames | Refusal {
  if (!Array.isArray(value)) {
    if (!isMessage(value)) return { reason: 'not_a_message' };
    return { isBatch: false, list: [value], requests: isRequest(value) ? [value] : [] };
  }
  if (value.length === 0) return { reason: 'empty_batch' };
  if (value.length > maxBatchLength) return { reason: 'batch_too_long' };
  if (!value.every(isMessage)) return { reason: 'not_a_message' };
  if (value.some(({ method }) => method === 'initialize')) return { reason: 'initialize_in_batch' };
  return { isBatch: true, list: value, requests: value.filter(isRequest) };
}

/**
 * Reads a value as {@link readFrames} does, from a server: some write an object without members as an empty array, as
 * PHP has one form for both.
 */
export function readFramesOfServer(value: unknown): Frames | Refusal {
  const isList = Array.isArray(value) && value.length <= maxBatchLength;
  return readFrames(isList ? value.map(withParams) : withParams(value));
}

function withParams(value: unknown): unknown {
  if (!isRecord(value) || value.method === undefined) return value;
  const { params } = value;
  if (isEmptyArray(params)) {
    const { params: _none, ...others } = value;
    return others;
  }
  if (!isRecord(params) || !isEmptyArray(params._meta)) return value;
  const { _meta: _none, ...known } = params;
  return { ...value, params: known };
}

function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isMessage(value: unknown): value is Message {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false;
  const { id, method, params } = value;
  const hasId = isId(id);
  if (method === undefined) return isResponse(value, hasId);
  if (typeof method !== 'string' || 'result' in value || 'error' in value) return false;
  return (hasId || !('id' in value)) && (params === undefined || (isRecord(params) && hasGoodMeta(params)));
}

/** Returns true if a message has the form of a response. An error may come without an id (JSON-RPC 2.0 section 5). */
function isResponse(value: Record<string, unknown>, hasId: boolean): boolean {
  if ('result' in value) return hasId && !('error' in value) && isRecord(value.result);
  return isRecord(value.error);
}

/** Servers of the SDK drop a request with malformed `_meta` without a response, so it is refused here. */
function hasGoodMeta({ _meta }: Record<string, unknown>): boolean {
  if (_meta === undefined) return true;
  if (!isRecord(_meta)) return false;
  const task = _meta[RELATED_TASK_META_KEY];
  return task === undefined || (isRecord(task) && typeof task.taskId === 'string');
}

function isRequest(message: Message): message is RequestMessage {
  return message.method !== undefined && message.id !== undefined;
}

/** Levels of log messages, from the least urgent (RFC 5424 section 6.2.1). */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;

/** The error for an unknown level (C6-04). */
export const noSuchLevel: JsonRpcError = {
  code: errorCodes.invalidParams,
  message: 'Invalid params: there is no such log level.',
};

/** One of the levels of RFC 5424. */
export type LogLevel = (typeof levels)[number];

/** Type guard for log levels. */
export function isLogLevel(value: unknown): value is LogLevel {
  return (levels as readonly unknown[]).includes(value);
}

/**
 * Returns true if a message of a server is a log message below the client's level. Without a level, a client gets all
 * log messages, as with the SDK.
 * @see MCP 2025-11-25 "Logging"
 */
export function isBelow(level: LogLevel | undefined, { method, params }: Message): boolean {
  if (level === undefined || method !== 'notifications/message' || !isLogLevel(params?.level)) return false;
  return levels.indexOf(params.level) < levels.indexOf(level);
}

/**
 * Returns true if a notification may be sent on the stream of a request: log messages only from the requested level on,
 * and none without a requested level.
 * @see MCP 2026-07-28 "Logging" (C6-04)
 */
export function mayHear({ params }: RequestMessage, notification: Message): boolean {
  if (notification.method !== 'notifications/message') return true;
  const meta = params?._meta as Record<string, unknown> | undefined;
  const wanted = meta?.[LOG_LEVEL_META_KEY];
  return isLogLevel(wanted) && isLogLevel(notification.params?.level) && !isBelow(wanted, notification);
}
