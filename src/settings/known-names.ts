import leven from 'leven';

/**
 * The names a place in a schema knows.
 * @param schema of the whole
 * @param path from there; a number is a place in a list, a name one in an object or a table
 * @returns none where the schema has no such place
 */
export function knownNames(whole: unknown, path: readonly PropertyKey[]): string[] {
  let schema = whole;
  for (const step of path)
    schema =
      typeof step === 'number'
        ? memberOf(schema, 'element')
        : (shapeOf(schema)?.[String(step)] ?? memberOf(schema, 'valueType'));
  return Object.keys(shapeOf(schema) ?? {});
}

/** What each member of a list, or each value of a table, is. */
function memberOf(schema: unknown, kind: 'element' | 'valueType'): unknown {
  let inner = schema as { element?: unknown; valueType?: unknown; unwrap?: () => unknown } | undefined;
  while (inner && inner[kind] === undefined && inner.unwrap) inner = inner.unwrap() as typeof inner;
  return inner?.[kind];
}

/** The members of an object; of all its forms, where it has several. */
function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  let inner = schema as
    | { shape?: Record<string, unknown>; options?: readonly unknown[]; unwrap?: () => unknown }
    | undefined;
  while (inner && !inner.shape && inner.unwrap) inner = inner.unwrap() as typeof inner;
  if (inner?.shape || !inner?.options) return inner?.shape;
  return Object.assign({}, ...inner.options.map(shapeOf));
}

/**
 * Finds the name that was probably meant.
 * @returns undefined where none of the names is near
 */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const ranked = names.map((known) => ({ known, distance: leven(name.toLowerCase(), known.toLowerCase()) }));
  ranked.sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(2, Math.floor(name.length / 3)) ? best.known : undefined;
}
