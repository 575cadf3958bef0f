import { createHash } from 'node:crypto';
import { isRecord } from '../../mcp/protocol.ts';
import type { Entry } from './step.ts';

/** A hash, and the hashed definition as JSON if it is short enough to store. */
interface HashedDefinition {
  hash: string;
  definition?: string;
}

/** Maximum length of a stored definition, in characters of JSON. */
const maxKept = 65_536;

/**
 * Prefix of the input of each hash of a whole definition: no hash of `hashToolMembers` equals one of `hashDefinition`.
 */
const domain = 'mcp-gatehouse definition 2\n';

/** The members that earlier pins of tools covered. */
const earlierMembers = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'];

/**
 * Members of `_meta` that belong to one message and not to the definition: traces (W3C Trace Context and Baggage) and
 * progress tokens. They differ each time, so no hash covers them, and lists do not contain them.
 */
const transportMeta = ['traceparent', 'tracestate', 'baggage', 'progressToken'];

const hashes = new WeakMap<Entry, HashedDefinition | 'too_large'>();

/** Returns a definition without the members of `_meta` that belong to one message. */
export function withoutTransportMeta(definition: Entry): Entry {
  const { _meta: meta, ...rest } = definition;
  if (!isRecord(meta) || !transportMeta.some((member) => Object.hasOwn(meta, member))) return definition;
  const left = Object.entries(meta).filter(([member]) => !transportMeta.includes(member));
  return { ...rest, ...(left.length > 0 && { _meta: Object.fromEntries(left) }) };
}

/**
 * Removes the statement that a tool is no task, which is the default (2025-11-25): servers of both eras send it in one
 * era only.
 */
function withoutDefaults(definition: Entry): Entry {
  const { execution, ...rest } = definition;
  return JSON.stringify(execution) === '{"taskSupport":"forbidden"}' ? rest : definition;
}

/**
 * Hashes all members of a definition, in any order.
 * @returns `too_large` for a definition over the bounds of `isTooLarge`
 */
export function hashDefinition(definition: Entry): HashedDefinition | 'too_large' {
  const known = hashes.get(definition);
  if (known) return known;
  const made = isTooLarge(definition)
    ? 'too_large'
    : hash(domain, withoutDefaults(withoutTransportMeta(definition)));
  hashes.set(definition, made);
  return made;
}

/**
 * Hashes the members of a tool that earlier pins covered, in the same form.
 * @param tool within the bounds of `isTooLarge`
 */
export function hashToolMembers(tool: Entry): string {
  return hash('', Object.fromEntries(earlierMembers.map((member) => [member, tool[member]]))).hash;
}

function hash(prefix: string, value: Entry): HashedDefinition {
  const definition = canonicalJson(value);
  const digest = createHash('sha256').update(prefix).update(definition).digest('hex');
  return definition.length > maxKept ? { hash: digest } : { hash: digest, definition };
}

/** JSON with ordered members. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null)).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  let members = '';
  for (const name of inOrder(Object.keys(value))) {
    const member = value[name];
    if (member === undefined) continue;
    members += `${members && ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** Sorts names as stored pins have them: numbers first, as in any object. */
function inOrder(names: string[]): string[] {
  names.sort();
  return names.some((name) => /^\d/.test(name))
    ? Object.keys(Object.fromEntries(names.map((name) => [name, 0])))
    : names;
}

/**
 * Returns the names of the differing members of two definitions, nested ones too: `description`, `_meta.ui`.
 * @param before JSON of a definition; undefined if it was too long to store, and so is `now`
 * @returns undefined if they cannot be compared
 */
export function differingMembers(before: string | undefined, now: string | undefined): string[] | undefined {
  if (before === undefined || now === undefined) return undefined;
  const [old, next] = [JSON.parse(before) as Entry, JSON.parse(now) as Entry];
  return differing(old, next).flatMap((name) => {
    const [one, other] = [old[name], next[name]];
    return isRecord(one) && isRecord(other) ? differing(one, other).map((part) => `${name}.${part}`) : [name];
  });
}

function differing(one: Entry, other: Entry): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}

/** Maximum length of a definition, in characters of all its names and texts. */
export const maxDefinitionLength = 262_144;

/** Maximum nesting of a definition. */
export const maxDefinitionDepth = 64;

/** Longest instructions of one server that are read, in characters. */
export const maxInstructionsLength = 65_536;

/** Cost of a value beside its text: many empty values take time, too. */
const perValue = 8;

/**
 * Returns whether a value of JSON is longer or deeper than a definition may be. It stops at the bound and does not recurse.
 */
export function isTooLarge(value: unknown): boolean {
  let left = maxDefinitionLength;
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: one, depth } = next;
    left -= perValue + (typeof one === 'string' ? one.length : 0);
    if (left < 0 || depth > maxDefinitionDepth) return true;
    if (typeof one !== 'object' || one === null) continue;
    const members: unknown[] = Array.isArray(one) ? one : Object.values(one);
    if (members.length * perValue > left) return true;
    if (!Array.isArray(one)) for (const key of Object.keys(one)) left -= key.length;
    for (const member of members) open.push({ value: member, depth: depth + 1 });
  }
  return left < 0;
}
