import { isId, plainJson } from '../../collections/exact-json.ts';
import { isRefusal, type Refusal } from '../http/refusal.ts';
import {
  type Frames,
  type InitializeParams,
  isRecord,
  type Message,
  type RequestMessage,
  readFrames,
} from '../protocol.ts';
import { isMethodOfMcp } from './methods.ts';

/** The messages of one body or line, read once for every guard. */
export interface Messages extends Frames {
  /** Budget that all messages use together. */
  operations: readonly Operation[];
}

/**
 * Reads a value of JSON as the JSON-RPC messages of a client, and what they ask for.
 * @returns a refusal if a member that a guard reads has not the type of the schema; it names the request if there is one
 *   alone (FA-01, T-200)
 */
export function readMessages(value: unknown): Messages | Refusal {
  const frames = readFrames(value);
  return isRefusal(frames) ? frames : withOperations(frames);
}

/**
 * Reads one request that is no client's own, as one that a gateway makes.
 * @throws TypeError if its params are not valid
 */
export function messagesOf(request: RequestMessage): Messages {
  const messages = withOperations({ isBatch: false, list: [request], requests: [request] });
  if (isRefusal(messages))
    throw new TypeError(`The request ${request.method} cannot be read: ${messages.reason}.`);
  return messages;
}

/**
 * Converts the numbers in params and results to JavaScript numbers, for servers in this process, which compute with
 * them. Identifying numbers stay as they were written: ids, and progress tokens.
 */
export function withPlainContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainContent);
  if (!isRecord(value)) return value;
  const { params, result, error, ...frame } = value;
  return {
    ...frame,
    ...('params' in value && { params: withPlainParams(params) }),
    ...('result' in value && { result: plainJson(result) }),
    ...('error' in value && { error: plainJson(error) }),
  };
}

function withPlainParams(params: unknown): unknown {
  const plain = plainJson(params);
  if (!isRecord(params) || !isRecord(plain)) return plain;
  for (const name of ['requestId', 'progressToken']) if (name in params) plain[name] = params[name];
  const { _meta: meta } = params;
  if (isRecord(meta) && isRecord(plain._meta) && 'progressToken' in meta)
    plain._meta.progressToken = meta.progressToken;
  return plain;
}

function withOperations(frames: Frames): Messages | Refusal {
  const { isBatch, list, requests } = frames;
  const operations = readOperations(list);
  if (typeof operations !== 'string') return { isBatch, list, requests, operations };
  const [first] = isBatch ? [] : requests;
  return { reason: operations, ...(first && { id: first.id }) };
}

/** Largest body of an `initialize`, in bytes: its params are stored as long as the session (T-144). */
export const maxInitializeBytes = 65_536;

/**
 * Reads the params of an `initialize` request.
 * @returns undefined if something is missing
 * @see MCP 2025-11-25 lifecycle "Initialization" (C2-01)
 */
export function readInitialize({ params }: RequestMessage): InitializeParams | undefined {
  const { protocolVersion, capabilities, clientInfo } = params ?? {};
  const isComplete =
    typeof protocolVersion === 'string' &&
    isRecord(capabilities) &&
    isRecord(clientInfo) &&
    typeof clientInfo.name === 'string' &&
    typeof clientInfo.version === 'string';
  return isComplete ? (params as InitializeParams) : undefined;
}

/** The use of one tool, prompt or resource, or of a method that MCP does not define. */
export interface Operation {
  kind: 'tool' | 'prompt' | 'resource' | 'method';
  /** Name of the tool, prompt or method, URI of the resource, as the client wrote it. */
  name: string;
  /** The request for a server's own scope rules; or the notification. */
  request: RequestMessage;
}

/** Most operations of one body. */
export const maxOperations = 1000;

/** Longest method, name or URI, in characters; servers match them against patterns (T-147). */
export const maxNameLength = 8192;

/** Longest sum of all names of one body, in characters: guards compare each of them with their rules (T-204). */
export const maxNamesLength = 131_072;

/** Reason why the params of a message cannot be read. */
export type ParamsProblem = 'not_a_message' | 'params_not_valid' | 'name_too_long' | 'too_many_names';

type Params = Record<string, unknown>;
type Kind = 'tool' | 'prompt' | 'resource';

const methods = { tool: 'tools/call', prompt: 'prompts/get', resource: 'resources/read' } as const;

/**
 * Writes the plainest request that uses a tool, prompt or resource.
 * @param name name of the tool or prompt, URI of the resource
 */
export function operationOn(kind: Kind, name: string): Operation {
  const params = kind === 'resource' ? { uri: name } : { name };
  return { kind, name, request: { jsonrpc: '2.0', id: 0, method: methods[kind], params } };
}

/**
 * Returns true if a value is a text with one spelling in UTF-8, so that guards, headers and digests distinguish it from
 * every other text (FA-01).
 */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();
const isTextOrAbsent = (value: unknown): boolean => value === undefined || isText(value);
const isRecordOrAbsent = (value: unknown): boolean => value === undefined || isRecord(value);

/** Members that guards read: of a message, of its params, of a reference, and of a subscription filter. */
const membersOf = {
  message: new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']),
  params: new Set([
    'name',
    'uri',
    'ref',
    'arguments',
    'cursor',
    'notifications',
    'level',
    'requestId',
    'progressToken',
    'task',
    'taskId',
    'requestState',
    'inputResponses',
    'capabilities',
    'protocolVersion',
    '_meta',
  ]),
  ref: new Set(['type', 'name', 'uri']),
  notifications: new Set(['resourceSubscriptions', 'taskIds']),
};

const foldedMembers = {
  message: foldedSet(membersOf.message),
  params: foldedSet(membersOf.params),
  ref: foldedSet(membersOf.ref),
  notifications: foldedSet(membersOf.notifications),
};

function foldedSet(names: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...names].map(folded));
}

/** Longest member that is compared, in characters; longer than every name of a member. */
const maxMemberLength = 40;

/** A name for servers that ignore case: for them `ſ` is an `s`, and the Kelvin sign a `k`. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/**
 * Returns true if a server may take another member for one that a guard reads: a member in another case, of which Go's
 * encoding/json takes the last, or `__proto__`, whose members a copy of the object inherits (FA-01).
 */
function hasTwin(value: object, of: keyof typeof membersOf): boolean {
  for (const name of Object.keys(value)) {
    if (membersOf[of].has(name) || name.length > maxMemberLength) continue;
    if (name === '__proto__' || foldedMembers[of].has(folded(name))) return true;
  }
  return false;
}

/**
 * Reads the operations of a message.
 * @returns undefined if a member that a guard reads has not the type of the schema
 */
type Read = (params: Params, message: Message) => Operation[] | undefined;

const nothing: Operation[] = [];

const named =
  (kind: 'tool' | 'prompt'): Read =>
  ({ name, arguments: given }, message) =>
    isText(name) && isRecordOrAbsent(given)
      ? [{ kind, name, request: message as RequestMessage }]
      : undefined;

const list: Read = ({ cursor }) => (isTextOrAbsent(cursor) ? nothing : undefined);

const subscription: Read = ({ uri }) => (isText(uri) ? [operationOn('resource', uri)] : undefined);

const initialize: Read = ({ capabilities }) => (isRecordOrAbsent(capabilities) ? nothing : undefined);

/** A reference names a prompt or a resource. One that names both is refused: a server may look at the other (FA-01). */
const completion: Read = ({ ref }) => {
  if (!isRecord(ref) || hasTwin(ref, 'ref')) return undefined;
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && isText(name) && uri === undefined) return [operationOn('prompt', name)];
  if (type === 'ref/resource' && isText(uri) && name === undefined) return [operationOn('resource', uri)];
  return undefined;
};

const listening: Read = ({ notifications }) => {
  if (!isRecord(notifications) || hasTwin(notifications, 'notifications')) return undefined;
  const { resourceSubscriptions: uris = [] } = notifications;
  if (!Array.isArray(uris) || !uris.every(isText)) return undefined;
  // More of them than a body may name are refused; those beyond are not even written down.
  return uris.slice(0, maxOperations + 1).map((uri) => operationOn('resource', uri));
};

/** Readers of the methods that a guard inspects. A method without a reader names nothing. */
const readers = new Map<string, Read>([
  ['initialize', initialize],
  ['tools/call', named('tool')],
  ['prompts/get', named('prompt')],
  [
    'resources/read',
    ({ uri }, message) =>
      isText(uri) ? [{ kind: 'resource', name: uri, request: message as RequestMessage }] : undefined,
  ],
  ['resources/subscribe', subscription],
  ['resources/unsubscribe', ({ uri }) => (isText(uri) ? nothing : undefined)],
  ['completion/complete', completion],
  ['subscriptions/listen', listening],
  ['tools/list', list],
  ['prompts/list', list],
  ['resources/list', list],
  ['resources/templates/list', list],
  ['logging/setLevel', ({ level }) => (isText(level) ? nothing : undefined)],
  [
    'notifications/cancelled',
    ({ requestId }) => (requestId === undefined || isId(requestId) ? nothing : undefined),
  ],
  ['notifications/progress', ({ progressToken }) => (isId(progressToken) ? nothing : undefined)],
]);

/** Returns true if the members that any message may have are of their types. */
function areCommonParams({ _meta, requestState, inputResponses }: Params): boolean {
  if (!isTextOrAbsent(requestState) || !isRecordOrAbsent(inputResponses)) return false;
  const token = (_meta as Params | undefined)?.progressToken;
  return token === undefined || isId(token);
}

/**
 * Reads the operations of the messages of one body. The message itself counts, never a header that mirrors it (T-132).
 * This is the one place that reads params for guards. Params that it cannot read are refused, so that no guard skips
 * them (FA-01, T-200).
 * @returns the operations, in the order of the messages, each a name of bounded length; or why the params are refused
 */
export function readOperations(messages: readonly Message[]): readonly Operation[] | ParamsProblem {
  const [only] = messages;
  const read = only && messages.length === 1 ? operationsOf(only) : readEach(messages);
  if (typeof read === 'string' || read.length <= 1) return read;
  if (read.length > maxOperations) return 'too_many_names';
  let length = 0;
  for (const { name } of read) length += name.length;
  return length > maxNamesLength ? 'too_many_names' : read;
}

function readEach(messages: readonly Message[]): readonly Operation[] | ParamsProblem {
  const all: Operation[] = [];
  for (const message of messages) {
    const read = operationsOf(message);
    if (typeof read === 'string') return read;
    all.push(...read);
  }
  return all;
}

function operationsOf(message: Message): readonly Operation[] | ParamsProblem {
  if (hasTwin(message, 'message')) return 'not_a_message';
  const { method, params } = message;
  if (method === undefined) return nothing;
  if (method.length > maxNameLength) return 'name_too_long';
  if (params !== undefined && (hasTwin(params, 'params') || !areCommonParams(params)))
    return 'params_not_valid';
  const read = readers.get(method);
  if (read) {
    const operations = read(params ?? {}, message);
    if (!operations) return 'params_not_valid';
    return operations.some(({ name }) => name.length > maxNameLength) ? 'name_too_long' : operations;
  }
  if (isMethodOfMcp(method)) return nothing;
  return [{ kind: 'method', name: method, request: message as RequestMessage }];
}
