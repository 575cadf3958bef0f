import { cleanText } from './clean-text.ts';
import type { Entry } from './listed.ts';

/** Members of definitions that are text for people and models. */
const texts = new Set(['title', 'description', 'instructions']);

/** Members whose values are data, not definitions: changing them would change what is meant. */
const data = new Set([
  'default',
  'const',
  'enum',
  'examples',
  'required',
  '_meta',
  'icons',
  'name',
  'uri',
  'uriTemplate',
]);

/** Members that hold schemas by names somebody chose. */
const named = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** Deepest that is looked into; what is deeper is left out. */
const maxDepth = 64;

/**
 * Takes out of the texts of a definition, those of its parameters included, what nobody sees.
 * @returns the definition itself where there is nothing to take out
 */
export function cleanDefinition(definition: Entry): Entry {
  return cleanRecord(definition, 0);
}

function cleanRecord(record: Entry, depth: number): Entry {
  let cleaned: Entry | undefined;
  for (const [key, value] of Object.entries(record)) {
    const clean = cleanMember(key, value, depth);
    if (clean === value) continue;
    cleaned ??= { ...record };
    cleaned[key] = clean;
  }
  return cleaned ?? record;
}

function cleanMember(key: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string') return texts.has(key) ? cleanText(value) : value;
  if (typeof value !== 'object' || value === null || data.has(key)) return value;
  if (depth >= maxDepth) return undefined;
  if (Array.isArray(value)) return cleanList(value, depth + 1);
  return named.has(key) ? cleanNamed(value as Entry, depth + 1) : cleanRecord(value as Entry, depth + 1);
}

/** The names are anybody's, so none of them says what its value is. */
function cleanNamed(record: Entry, depth: number): Entry {
  const members = Object.entries(record).map(
    ([name, value]) => [name, cleanMember('', value, depth)] as const,
  );
  return members.every(([name, value]) => record[name] === value) ? record : Object.fromEntries(members);
}

function cleanList(list: readonly unknown[], depth: number): unknown {
  const cleaned = list.map((value) => cleanMember('', value, depth));
  return cleaned.every((value, at) => value === list[at]) ? list : cleaned;
}
