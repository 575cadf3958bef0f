import { createHash } from 'node:crypto';
import { isRecord } from '../../mcp/checks/record.ts';
import { isTooLarge } from './definition-bounds.ts';
import type { Entry } from './listed.ts';

/** A hash and the definition it was made of, as JSON; no JSON if it is too long to store. */
export interface HashedDefinition {
  hash: string;
  definition?: string;
}

/** Longest definition that is stored, in characters of JSON. */
const maxKept = 65_536;

/** What every hash of a whole definition begins with: a hash of `hashToolMembers` is never one of `hashDefinition`. */
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

/**
 * Hashes every member of a definition. The order of members does not count.
 * @returns `too_large` for a definition over the bounds of `isTooLarge`
 */
export function hashDefinition(definition: Entry): HashedDefinition | 'too_large' {
  const known = hashes.get(definition);
  if (known) return known;
  const made = isTooLarge(definition) ? 'too_large' : hash(domain, withoutTransportMeta(definition));
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

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (!isRecord(member) || isRawJson?.(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** Numbers that were read as they were written (`JSON.rawJSON`) count as written. */
const { isRawJSON: isRawJson } = JSON as { isRawJSON?: (value: unknown) => boolean };
