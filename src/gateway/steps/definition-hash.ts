import { createHash } from 'node:crypto';
import { isRecord } from '../../mcp/protocol.ts';
import { isTooLarge } from './definition-bounds.ts';
import type { Entry } from './listed.ts';

/** A hash and the definition it was made of, as JSON; no JSON if it is too long to store. */
export interface HashedDefinition {
  hash: string;
  definition?: string;
}

/** Longest definition that is stored, in characters of JSON. */
const maxKept = 65_536;

/**
 * Prefix of the input of each hash of a whole definition: a hash of `hashToolMembers` is never one of `hashDefinition`.
 */
const domain = 'mcp-gatehouse definition 2\n';

/** The members that pins of tools covered before they covered whole definitions. */
const earlierMembers = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'];

/**
 * Members of `_meta` that belong to one message and not to a definition: traces (W3C Trace Context and Baggage) and tokens of
 * progress. They differ each time, so no hash covers them, and no client gets them in a list.
 */
const transportMeta = ['traceparent', 'tracestate', 'baggage', 'progressToken'];

const hashes = new WeakMap<Entry, HashedDefinition | 'too_large'>();

/** Returns a definition without the members of its `_meta` that belong to the message it came with. */
export function withoutTransportMeta(definition: Entry): Entry {
  const { _meta: meta, ...rest } = definition;
  if (!isRecord(meta) || !transportMeta.some((member) => Object.hasOwn(meta, member))) return definition;
  const left = Object.entries(meta).filter(([member]) => !transportMeta.includes(member));
  return { ...rest, ...(left.length > 0 && { _meta: Object.fromEntries(left) }) };
}

/** A tool that says that it is no task says what is so without a word (2025-11-25); servers of both eras say it in one only. */
function withoutDefaults(definition: Entry): Entry {
  const { execution, ...rest } = definition;
  return JSON.stringify(execution) === '{"taskSupport":"forbidden"}' ? rest : definition;
}

/**
 * Hashes every member of a definition. The order of members does not count.
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
 * Hashes the members of a tool that pins covered before they covered whole definitions, in the same form.
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

/** JSON with the members of each object in one order. */
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

/** Names that are numbers come first, as in any object: pins from before have them so. */
function inOrder(names: string[]): string[] {
  names.sort();
  return names.some((name) => /^\d/.test(name))
    ? Object.keys(Object.fromEntries(names.map((name) => [name, 0])))
    : names;
}

/**
 * Returns the names of the members that differ between two definitions, with those of objects in them: `description`,
 * `_meta.ui`.
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
