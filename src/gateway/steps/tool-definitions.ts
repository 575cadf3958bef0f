import { missingInputOf, patienceOf } from '../../mcp/building-blocks.ts';
import type { JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { waitFor } from '../credentials/credentials.ts';
import {
  type Answer,
  askedFor,
  type Entry,
  entriesOf,
  type Listed,
  lists,
  notFound,
  type Passing,
} from './step.ts';

/** Lifetime of a list, in milliseconds: a server need not announce changes. */
const lifeMs = 60_000;

/** Maximum number of pages of a list, and maximum time to read them, in milliseconds. */
const maxPages = 100;
const longestReadMs = 30_000;

/** Maximum number of accounts with known lists on one connection. */
const maxAccounts = 1000;

/** The list of a server, or the reason why there is none. */
type Tools = { tools: ReadonlyMap<string, Entry>; absences: readonly AbsenceOf[] } | { error: JsonRpcError };

/** State of a tool: its definition if it is listed, or the reason why it is not. */
export type Found =
  | { tool: Entry | undefined; error?: undefined }
  | { error: JsonRpcError; tool?: undefined };

interface Read {
  tools: Promise<Tools>;
  /** Set when the list has been read. */
  done?: Tools;
  untilMs: number;
}

/** Lists of definitions, and the notifications about their changes. */
const changesOf = {
  'tools/list': 'notifications/tools/list_changed',
  'prompts/list': 'notifications/prompts/list_changed',
  'resources/templates/list': 'notifications/resources/list_changed',
} as const;

/**
 * The tools of a server, or another list, as it lists them for each account. Lists are read when a step needs an entry.
 */
export class ToolDefinitions {
  readonly #nowMs: () => number;
  readonly #method: keyof typeof changesOf;
  #behind = new WeakMap<object, Map<string, Read>>();

  /** @param method method of the list */
  constructor(nowMs: () => number, method: keyof typeof changesOf = 'tools/list') {
    this.#nowMs = nowMs;
    this.#method = method;
  }

  /**
   * Returns a tool as the server lists it for a caller. The list waits for a user who is just providing a credential.
   * @returns no tool if none of that name is listed; the error for the caller if there is no list, or not the part with
   *   the tool
   */
  async find(name: string, passing: Passing): Promise<Found> {
    const found = await this.#look(name, passing);
    const missing = missingInputOf(found.error);
    const patienceMs = passing.caller ? patienceOf(passing.caller) : 0;
    if (!missing || patienceMs === 0) return found;
    const isGiven = await waitFor(async () => (await missing.isGiven()) || undefined, patienceMs);
    return isGiven ? this.#look(name, passing) : found;
  }

  async #look(name: string, passing: Passing): Promise<Found> {
    const { behind, caller } = passing;
    const reads = this.#behind.get(behind) ?? new Map<string, Read>();
    this.#behind.set(behind, reads);
    const account = caller ? accountKeyPrefix(caller) : '';
    const known = reads.get(account);
    const isLacking = known?.done !== undefined && ofName(known.done, name).error !== undefined;
    if (known && known.untilMs > this.#nowMs() && !isLacking) return ofName(await known.tools, name);
    const read: Read = {
      tools: readTools(this.#method, passing, this.#nowMs),
      untilMs: this.#nowMs() + lifeMs,
    };
    reads.delete(account);
    reads.set(account, read);
    const [oldest] = reads.keys();
    if (reads.size > maxAccounts && oldest !== undefined) reads.delete(oldest);
    const tools = await read.tools;
    read.done = tools;
    if ('error' in tools && reads.get(account) === read) reads.delete(account);
    return ofName(tools, name);
  }

  /** Forgets the lists of a server that reports a change; of all if it reported it to another node. */
  hear({ method }: Message, behind?: object): void {
    if (method !== changesOf[this.#method]) return;
    if (behind) this.#behind.delete(behind);
    else this.forgetAll();
  }

  forgetAll(): void {
    this.#behind = new WeakMap();
  }
}

function ofName(listed: Tools, name: string): Found {
  if ('error' in listed) return listed;
  const tool = listed.tools.get(name);
  const error = tool ? undefined : listed.absences.map((absenceOf) => absenceOf(name)).find(Boolean);
  return error ? { error } : { tool };
}

function noList({ member }: Listed): JsonRpcError {
  const what = member === 'resourceTemplates' ? 'resource templates' : member;
  return { code: errorCodes.internalError, message: `The MCP server gives no list of its ${what}.` };
}

/** Reads all pages. A repeated cursor ends the list, because its pages are known. */
async function readTools(method: string, { ask }: Passing, nowMs: () => number): Promise<Tools> {
  const list = lists.get(method) as Listed;
  const untilMs = nowMs() + longestReadMs;
  const cursors = new Set<unknown>();
  const tools = new Map<string, Entry>();
  const absences: AbsenceOf[] = [];
  let cursor: unknown;
  for (let page = 0; page < maxPages; page++) {
    const { result, error } = await ask(method, cursor === undefined ? {} : { cursor });
    const entries = entriesOf(result, list);
    if (!result || !entries) return { error: error ?? noList(list) };
    for (const entry of entries) {
      const name = entry[list.name];
      if (typeof name === 'string') tools.set(name, entry);
    }
    const absenceOf = absenceIn(result);
    if (absenceOf) absences.push(absenceOf);
    cursor = result.nextCursor;
    if (cursor === undefined || cursors.has(cursor)) break;
    if (nowMs() >= untilMs) return { error: noList(list) };
    cursors.add(cursor);
  }
  return { tools, absences };
}

/** The called tool as its server defines it; or the response to a call of an unknown tool. */
type CalledTool =
  | { name: string; tool: Entry; answer?: undefined }
  | { answer: Answer; name?: undefined; tool?: undefined };

/**
 * Looks up the called tool. A tool that the server does not list does not exist; if there is no list, the response says
 * why: a credential is missing, or the server cannot be reached.
 * @param request a `tools/call`
 */
export async function calledTool(
  definitions: Pick<ToolDefinitions, 'find'>,
  request: RequestMessage,
  passing: Passing,
): Promise<CalledTool> {
  const name = askedFor(request)?.name ?? '';
  const { tool, error } = await definitions.find(name, passing);
  if (error) return { answer: { error } };
  return tool ? { name, tool } : { answer: notFound('tool', name, passing) };
}

/** Returns the reason why a name is missing from a list; undefined if none is known. */
type AbsenceOf = (name: string) => JsonRpcError | undefined;

const ofResults = new WeakMap<object, AbsenceOf>();

/**
 * Attaches the reasons why names are missing from a result.
 * @returns the same object
 */
export function withAbsence<T extends object>(result: T, absenceOf: AbsenceOf): T {
  ofResults.set(result, absenceOf);
  return result;
}

/** Returns the reasons attached to a result. */
function absenceIn(result: object): AbsenceOf | undefined {
  return ofResults.get(result);
}
