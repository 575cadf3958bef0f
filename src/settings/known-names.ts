import leven from 'leven';

/**
 * The names a place in a schema knows.
 * @param whole schema of the whole
 * @param path from there; a number is a place in a list, a name one in an object or a table
 * @returns none where the schema has no such place
 */
export function knownNames(whole: unknown, path: readonly PropertyKey[]): string[] {
  return Object.keys(shapeOf(schemaAt(whole, path)) ?? {});
}

/** What is known of one of the forms a setting can have. */
export interface Form {
  /** Which kind of value it takes, as the schema calls it. */
  kind: string | undefined;
  /** The values it takes, where it takes no others. */
  values: readonly unknown[] | undefined;
  /** The names it knows, where it is an object. */
  names: readonly string[];
  /** Those that cannot be left out. */
  needed: readonly string[];
}

/**
 * The forms a place in a schema can have, in the order of the schema: one, where it is no union.
 * @param path as for {@link knownNames}
 */
export function formsAt(whole: unknown, path: readonly PropertyKey[]): Form[] {
  let inner = schemaAt(whole, path) as
    | { shape?: unknown; options?: readonly unknown[]; unwrap?: () => unknown; def?: { type?: string } }
    | undefined;
  while (inner && !inner.shape && !inner.options && inner.unwrap && inner.def?.type !== 'array')
    inner = inner.unwrap() as typeof inner;
  // The options of an enumeration are its values.
  const options = inner?.def?.type === 'union' ? inner.options : undefined;
  return (options ?? [inner]).map((option) => {
    const { type, values } =
      (option as { def?: { type?: string; values?: unknown[] } } | undefined)?.def ?? {};
    const shape = shapeOf(option) ?? {};
    const needed = Object.keys(shape).filter((name) => !takesNothing(shape[name]));
    return { kind: type, values, names: Object.keys(shape), needed };
  });
}

function takesNothing(schema: unknown): boolean {
  return (schema as { safeParse: (value: unknown) => { success: boolean } }).safeParse(undefined).success;
}

function schemaAt(whole: unknown, path: readonly PropertyKey[]): unknown {
  let schema = whole;
  for (const step of path)
    schema =
      typeof step === 'number'
        ? memberOf(schema, 'element')
        : (shapeOf(schema)?.[String(step)] ?? memberOf(schema, 'valueType'));
  return schema;
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
  if (!best || best.distance > Math.max(2, Math.floor(name.length / 3))) return undefined;
  // Nothing of it is like the other: every letter would have to change.
  return best.distance < Math.max(name.length, best.known.length) ? best.known : undefined;
}
