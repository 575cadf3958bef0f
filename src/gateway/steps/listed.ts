import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer } from './step.ts';

/** Position of a list in its result, and the naming member of an entry. */
export interface Listed {
  member: string;
  name: string;
  kind: 'tool' | 'prompt' | 'resource' | 'template';
}

/** Methods that list what a server offers. */
export const lists: ReadonlyMap<string, Listed> = new Map([
  ['tools/list', { member: 'tools', name: 'name', kind: 'tool' }],
  ['prompts/list', { member: 'prompts', name: 'name', kind: 'prompt' }],
  ['resources/list', { member: 'resources', name: 'uri', kind: 'resource' }],
  ['resources/templates/list', { member: 'resourceTemplates', name: 'uriTemplate', kind: 'template' }],
]);

/** Methods in whose results a server says what it is and how it is to be used. */
export const introductions: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

/** An entry of a list, whatever a server wrote into it. */
export type Entry = Record<string, unknown>;

/**
 * Returns the entries of a list.
 * @returns undefined if the result holds none
 */
export function entriesOf(
  result: Record<string, unknown> | undefined,
  { member }: Listed,
): Entry[] | undefined {
  const entries = result?.[member];
  if (!Array.isArray(entries)) return undefined;
  return entries.filter((entry) => typeof entry === 'object' && entry !== null && !Array.isArray(entry));
}

/**
 * Returns the answer to a request with other entries, if it is a list. What is no list has none.
 * @param method the method of the request
 * @param change gives the entries instead of those the server listed
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

/** Longest that entries of one list hold up others, in milliseconds. */
const turnMs = 10;

/**
 * Maps the entries of a list in their order, and lets others have their turn meanwhile: a list may have thousands.
 * @param read takes a few milliseconds for an entry at most
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
