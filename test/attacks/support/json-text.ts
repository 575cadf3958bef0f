/**
 * JSON as text has it: members may repeat, and names and scalars keep their spelling. A string here is the source text of
 * a scalar, a member name is the source text of a JSON string.
 */
export type JsonText = string | { items: JsonText[] } | { members: [string, JsonText][] };

/** Writes a value as {@link JsonText}. */
export function jsonText(value: unknown): JsonText {
  if (Array.isArray(value)) return { items: value.map(jsonText) };
  if (typeof value === 'object' && value !== null)
    return {
      members: Object.entries(value).map(([name, member]) => [JSON.stringify(name), jsonText(member)]),
    };
  return JSON.stringify(value) ?? 'null';
}

/** Writes the source text. */
export function sourceOf(tree: JsonText): string {
  if (typeof tree === 'string') return tree;
  if ('items' in tree) return `[${tree.items.map(sourceOf).join(',')}]`;
  return `{${tree.members.map(([name, member]) => `${name}:${sourceOf(member)}`).join(',')}}`;
}

const token = /\s*(?:([{}[\]:,])|("(?:[^"\\]|\\.)*")|([^\s{}[\]:,"]+))/y;

/**
 * Reads source text and keeps every member, the repeated ones included.
 * @throws SyntaxError if the text is not JSON
 */
export function readJsonText(source: string): JsonText {
  JSON.parse(source);
  token.lastIndex = 0;
  const next = (): string => {
    const found = token.exec(source);
    if (!found) throw new SyntaxError('This text ends too early.');
    return found[1] ?? found[2] ?? found[3] ?? '';
  };
  const read = (first: string): JsonText => {
    if (first === '[') {
      const items: JsonText[] = [];
      for (let word = next(); word !== ']'; word = next()) if (word !== ',') items.push(read(word));
      return { items };
    }
    if (first !== '{') return first;
    const members: [string, JsonText][] = [];
    for (let word = next(); word !== '}'; word = next()) {
      if (word === ',') continue;
      next();
      members.push([word, read(next())]);
    }
    return { members };
  };
  return read(next());
}

/** Returns every value of a member, in the order of the text. */
export function valuesOf(tree: JsonText | undefined, name: string): JsonText[] {
  if (tree === undefined || typeof tree === 'string' || 'items' in tree) return [];
  return tree.members.filter(([key]) => JSON.parse(key) === name).map(([, value]) => value);
}

/** Returns the string that a scalar is, or undefined for anything else. */
export function stringOf(tree: JsonText | undefined): string | undefined {
  return typeof tree === 'string' && tree.startsWith('"') ? (JSON.parse(tree) as string) : undefined;
}

/** Returns all strings within a value, the names of members included. */
export function stringsIn(tree: JsonText): string[] {
  if (typeof tree === 'string') return tree.startsWith('"') ? [JSON.parse(tree) as string] : [];
  if ('items' in tree) return tree.items.flatMap(stringsIn);
  return tree.members.flatMap(([name, value]) => [JSON.parse(name) as string, ...stringsIn(value)]);
}
