import { createHash } from 'node:crypto';
import type { Entry } from './listed.ts';

/** What of a tool's definition a model or a person acts on. */
const members = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** Longest definition that is kept to be looked at, in characters. */
const maxKept = 65_536;

/**
 * Gives the hash of a tool's definition, the same for any order of its members; and the definition as JSON, where it is
 * not too long to keep.
 */
export function hashDefinition(tool: Entry): { hash: string; definition?: string } {
  const known = hashes.get(tool);
  if (known) return known;
  const definition = canonicalJson(Object.fromEntries(members.map((member) => [member, tool[member]])));
  const hash = createHash('sha256').update(definition).digest('hex');
  const made = definition.length > maxKept ? { hash } : { hash, definition };
  hashes.set(tool, made);
  return made;
}

const hashes = new WeakMap<Entry, { hash: string; definition?: string }>();

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
