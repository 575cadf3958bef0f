import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { isRefusal } from '../http/refusal.ts';
import { isRecord, type Message, type RequestMessage, readFrames } from '../protocol.ts';

/** The two kinds of revisions: `legacy` up to 2025-11-25, `modern` from 2026-07-28. */
export type Era = 'legacy' | 'modern';

/** Sender of a message. */
export type Side = 'client' | 'server';

const both: readonly Era[] = ['legacy', 'modern'];
const legacy: readonly Era[] = ['legacy'];
const modern: readonly Era[] = ['modern'];

/**
 * The methods that revisions define, by sender. Tasks, skills and events are not among them: they are refused unless they
 * are opened by name.
 * @see MCP schema of each revision, `ClientRequest`, `ClientNotification`, `ServerRequest`, `ServerNotification`
 */
const known: Readonly<Record<Side, ReadonlyMap<string, readonly Era[]>>> = {
  client: new Map([
    ['initialize', legacy],
    ['ping', legacy],
    ['tools/list', both],
    ['tools/call', both],
    ['prompts/list', both],
    ['prompts/get', both],
    ['resources/list', both],
    ['resources/templates/list', both],
    ['resources/read', both],
    ['resources/subscribe', legacy],
    ['resources/unsubscribe', legacy],
    ['completion/complete', both],
    ['logging/setLevel', legacy],
    ['server/discover', modern],
    ['subscriptions/listen', modern],
    ['notifications/initialized', legacy],
    ['notifications/cancelled', both],
    ['notifications/progress', both],
    ['notifications/roots/list_changed', both],
  ]),
  server: new Map([
    ['ping', legacy],
    ['sampling/createMessage', both],
    ['roots/list', both],
    ['elicitation/create', both],
    ['notifications/cancelled', both],
    ['notifications/progress', both],
    ['notifications/message', both],
    ['notifications/tools/list_changed', both],
    ['notifications/prompts/list_changed', both],
    ['notifications/resources/list_changed', both],
    ['notifications/resources/updated', both],
    ['notifications/elicitation/complete', both],
    ['notifications/subscriptions/acknowledged', modern],
  ]),
};

/**
 * Returns true if a revision defines a method for messages of clients, in this very spelling.
 * @param era asks about the revisions of this era alone
 */
export function isMethodOfMcp(method: string, era?: Era): boolean {
  const eras = known.client.get(method);
  return eras !== undefined && (era === undefined || eras.includes(era));
}

/**
 * Returns true if a message with a method of MCP is of the right kind: notifications have no id, requests have one. A
 * request without an id would pass the steps that judge requests.
 */
export function isOfItsKind({ id, method = '' }: Pick<Message, 'id' | 'method'>): boolean {
  const isKnown = known.client.has(method) || known.server.has(method);
  return !isKnown || method.startsWith('notifications/') === (id === undefined);
}

/** Methods that are let through beside those of MCP, each with the scopes it needs. */
export type OpenMethods = Readonly<Record<string, readonly string[]>>;

/** Methods whose client may be asked for input: they may return `input_required` (C4-01). */
export const inputMethods: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Extensions that need no method of their own. */
const withoutMethods: ReadonlySet<string> = new Set(['io.modelcontextprotocol/ui']);

/** Extension -> a method without which it cannot be used. */
const methodOfExtension: ReadonlyMap<string, string> = new Map([
  ['io.modelcontextprotocol/tasks', 'tasks/get'],
  ['io.modelcontextprotocol/skills', 'skills/list'],
  ['io.modelcontextprotocol/events', 'events/list'],
]);

/** Capabilities of revisions, of servers and clients. */
const plainCapabilities: ReadonlySet<string> = new Set([
  'tools',
  'prompts',
  'resources',
  'logging',
  'completions',
  'sampling',
  'roots',
  'elicitation',
]);

/** Methods that pass the gate, in both directions. */
export interface ServedMethods {
  /** Returns true if a request or notification passes. */
  passes(method: string, from: Side, era: Era): boolean;
  /** Returns the scopes that an open method needs by itself; undefined if it is not open. */
  scopesOf(method: string): readonly string[] | undefined;
  /** Removes capabilities whose methods do not pass (FA-13, T-202). Returns the same object if all pass. */
  capabilities(declared: Record<string, unknown>): Record<string, unknown>;
  /**
   * Returns true if a result is of a kind that a client of the era can be given. A task is one only if tasks are open.
   */
  isKnownResult(result: Record<string, unknown>, era: Era): boolean;
  /** True if tasks can be asked for. */
  readonly hasTasks: boolean;
}

/**
 * Creates the table of served methods: those that a revision defines, and those that were opened by name. All others are
 * refused, as no guard can judge them (FA-02, T-201).
 * @param open methods that the operator or the code of the server opened
 */
export function createServedMethods(open: OpenMethods = {}): ServedMethods {
  const opened = new Map(Object.entries(open));
  const hasTasks = opened.has('tasks/get');
  const isServed = (extension: string): boolean => {
    if (withoutMethods.has(extension)) return true;
    const method = methodOfExtension.get(extension);
    // Only an operator who opened methods can know the methods of an unknown extension.
    return method === undefined ? opened.size > 0 : opened.has(method);
  };
  const isDeclared = (name: string): boolean => {
    if (name === 'tasks') return hasTasks;
    return plainCapabilities.has(name) || name === 'extensions' || opened.size > 0;
  };
  return {
    hasTasks,
    passes: (method, from, era) => known[from].get(method)?.includes(era) ?? opened.has(method),
    scopesOf: (method) => opened.get(method),
    capabilities(declared) {
      const { extensions } = declared;
      const names = Object.keys(isRecord(extensions) ? extensions : {});
      const isWhole = Object.keys(declared).every(isDeclared) && names.every(isServed);
      if (isWhole && (extensions === undefined || isRecord(extensions))) return declared;
      const { extensions: _all, ...others } = declared;
      const kept = pick(others, isDeclared);
      return isRecord(extensions) ? { ...kept, extensions: pick(extensions, isServed) } : kept;
    },
    isKnownResult(result, era) {
      const { resultType, task, inputRequests } = result;
      if (resultType === undefined || resultType === 'complete')
        return era === 'modern' || hasTasks || !isRecord(task) || 'content' in result;
      if (resultType === 'task') return hasTasks;
      return era === 'modern' && resultType === 'input_required' && areKnownQuestions(inputRequests);
    },
  };
}

/**
 * Removes `task` from a request: a receiver that serves no tasks must ignore it.
 * @see MCP 2025-11-25 tasks "Task Support and Handling"
 */
export function withoutTask(message: Message): Message {
  if (message.params?.task === undefined) return message;
  const { task: _ignored, ...params } = message.params;
  return { ...message, params };
}

/** Leaves of the capabilities that a client of 2026-07-28 declares with a request those that are served. */
export function withServedCapabilities(
  request: RequestMessage,
  served: Pick<ServedMethods, 'capabilities'>,
): RequestMessage {
  const meta = request.params?._meta;
  const declared = isRecord(meta) ? meta[CLIENT_CAPABILITIES_META_KEY] : undefined;
  if (!isRecord(meta) || !isRecord(declared)) return request;
  const kept = served.capabilities(declared);
  if (kept === declared) return request;
  return {
    ...request,
    params: { ...request.params, _meta: { ...meta, [CLIENT_CAPABILITIES_META_KEY]: kept } },
  };
}

function pick(values: Record<string, unknown>, isKept: (name: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isKept(name)));
}

/** A request that a server of 2026-07-28 puts to its client in a result. */
export type InputRequest = Pick<RequestMessage, 'method' | 'params'>;

/**
 * Reads the `inputRequests` of a result. Each must have the form of a request: it becomes one for clients of older revisions.
 * @returns undefined if one has not
 */
export function readInputRequests(value: unknown): Readonly<Record<string, InputRequest>> | undefined {
  if (value === undefined) return {};
  if (!isRecord(value)) return undefined;
  const areRequests = Object.values(value).every(
    (asked) =>
      isRecord(asked) && !isRefusal(readFrames({ ...asked, jsonrpc: '2.0', id: 0 })) && 'method' in asked,
  );
  return areRequests ? (value as Record<string, InputRequest>) : undefined;
}

/** Returns true if a server of 2026-07-28 sends its client only requests that the revision has (C4-01). */
function areKnownQuestions(value: unknown): boolean {
  const questions = readInputRequests(value);
  return questions !== undefined && Object.values(questions).every(({ method }) => known.server.has(method));
}
