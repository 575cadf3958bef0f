import { setImmediate as nextTurn } from 'node:timers/promises';
import { readOperations } from '../../mcp/building-blocks.ts';
import type { JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';

/** Response to a request. */
export type Answer =
  | { result: Record<string, unknown>; error?: undefined }
  | { error: JsonRpcError; result?: undefined };

/** State of a request on its way through the steps. */
export interface Passing {
  /** Absent for the gateway's own requests to a server that serves many callers. */
  readonly caller: AuthInfo | undefined;
  readonly era: 'legacy' | 'modern';
  /** True if the call was cancelled or its client is gone: nobody gets its response. */
  readonly isCancelled: boolean;
  /** Aborted when the call is cancelled; created at first use. */
  readonly signal: AbortSignal;
  /** Connection to the server: the same object for all requests on it. */
  readonly behind: object;
  /**
   * Sends a request of the gateway itself for the caller, past the steps. After ten seconds the response is an error.
   */
  ask(method: string, params: Record<string, unknown>): Promise<Answer>;
  /**
   * Calls back when the server shows that it works on the request: it reports progress, or sends a request to its
   * client.
   */
  onProgress(tell: () => void): void;
}

/** A connection to a server, and its caller; no caller if it serves everybody. */
export interface Line {
  readonly caller: AuthInfo | undefined;
  /** See {@link Passing.behind}. */
  readonly behind: object;
}

/**
 * Passes a request to the next step, or to the server. Must not be called again before the response. Errors reject the
 * promise and are never thrown.
 */
export type Next = (request: RequestMessage) => Promise<Answer>;

/** A step between the gate and a server, the same for all backends and eras. */
export interface Step {
  /** Returns true if the step concerns requests of a method; called once for each method. */
  cares(method: string): boolean;
  /**
   * Answers a request, itself or through `next`. A response that is returned while the server still works on the
   * request cancels it there. Errors reject the promise, as of {@link Next}.
   */
  answer(request: RequestMessage, passing: Passing, next: Next): Promise<Answer>;
  /**
   * Returns true if clients may get a notification or request of the server. Another request is rejected.
   * @param line connection that the message came on; absent if a listener asks what it may get
   */
  mayTell?(said: Message, line?: Line): boolean;
  /** Returns true if the server may get a notification of a client. */
  mayPass?(notification: Message, line: Line): boolean;
  /**
   * Returns a request or notification of the server as the client may read it; or the error for a request that it may
   * not read.
   */
  relay?(said: Message): Message | { refusal: JsonRpcError };
  /**
   * Takes note of a change that the server reports: of its lists, or of a resource.
   * @param behind absent if the server reported it to another node
   */
  hear?(notification: Message, behind?: object): void;
  /** Takes note that changes may have been lost: everything counts as changed. */
  hearAll?(): void;
}

/** Target of a request: one tool, prompt or resource. */
interface AskedFor {
  kind: Listed['kind'];
  name: string;
}

/** Methods with one tool, prompt or resource as their target. */
export const usingMethods: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'resources/subscribe',
  'completion/complete',
]);

/**
 * Returns the target of a request.
 * @returns undefined if there is no single target; unreadable requests reach no step (see `Chain`)
 */
export function askedFor(request: RequestMessage): AskedFor | undefined {
  if (!usingMethods.has(request.method)) return undefined;
  const operations = readOperations([request]);
  const [operation] = typeof operations === 'string' ? [] : operations;
  if (!operation || operation.kind === 'method') return undefined;
  const { kind, name } = operation;
  const isTemplate = kind === 'resource' && request.method === 'completion/complete';
  return { kind: isTemplate ? 'template' : kind, name };
}

/** Maximum length of a name in an error, in characters. */
const maxShown = 200;

/**
 * Builds the response of a server that does not have the requested item; a forbidden item does not exist for the
 * caller.
 * @see MCP 2025-11-25 resources "Error Handling": -32002; 2026-07-28 has -32602 for all
 */
export function notFound(kind: Listed['kind'], name: string, { era }: Pick<Passing, 'era'>): Answer {
  const shown = name.slice(0, maxShown);
  if (kind === 'tool')
    return { error: { code: errorCodes.invalidParams, message: `Tool ${shown} not found` } };
  if (kind === 'prompt')
    return { error: { code: errorCodes.invalidParams, message: `Prompt ${shown} not found` } };
  const code = era === 'legacy' ? errorCodes.resourceNotFound : errorCodes.invalidParams;
  return { error: { code, message: `Resource ${shown} not found`, data: { uri: shown } } };
}

/** Member of a result that holds a list, and member of its entries that names them. */
export interface Listed {
  member: string;
  name: string;
  kind: 'tool' | 'prompt' | 'resource' | 'template';
}

/** Methods that return lists. */
export const lists: ReadonlyMap<string, Listed> = new Map([
  ['tools/list', { member: 'tools', name: 'name', kind: 'tool' }],
  ['prompts/list', { member: 'prompts', name: 'name', kind: 'prompt' }],
  ['resources/list', { member: 'resources', name: 'uri', kind: 'resource' }],
  ['resources/templates/list', { member: 'resourceTemplates', name: 'uriTemplate', kind: 'template' }],
]);

/** Methods whose results describe the server. */
export const introductions: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

/** An entry of a list, with anything that a server wrote into it. */
export type Entry = Record<string, unknown>;

/** Returns the entries of a list, or undefined. */
export function entriesOf(
  result: Record<string, unknown> | undefined,
  { member }: Listed,
): Entry[] | undefined {
  const entries = result?.[member];
  if (!Array.isArray(entries)) return undefined;
  return entries.filter((entry) => typeof entry === 'object' && entry !== null && !Array.isArray(entry));
}

/**
 * Returns a response with changed entries, if it is a list.
 * @param method method of the request
 * @param change returns the new entries
 */
export async function withEntries(
  method: string,
  answer: Answer,
  change: (entries: Entry[], list: Listed) => Entry[] | Promise<Entry[]>,
): Promise<Answer> {
  const list = lists.get(method);
  if (!answer.result || !list || answer.result[list.member] === undefined) return answer;
  const entries = entriesOf(answer.result, list) ?? [];
  return { result: { ...answer.result, [list.member]: await change(entries, list) } };
}

/** Longest time without a pause for other work, in milliseconds. */
const turnMs = 10;

/**
 * Maps the entries of a list in order, with pauses for other work: a list may have thousands.
 * @param read takes at most a few milliseconds for an entry
 */
export async function mapInTurns<From, To>(
  entries: readonly From[],
  read: (entry: From) => To,
): Promise<To[]> {
  const mapped: To[] = [];
  let untilMs = performance.now() + turnMs;
  for (const entry of entries) {
    mapped.push(read(entry));
    if (performance.now() < untilMs) continue;
    await nextTurn();
    untilMs = performance.now() + turnMs;
  }
  return mapped;
}
