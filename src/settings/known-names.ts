import leven from 'leven';

/**
 * Returns the names that a schema allows at a place.
 * @param whole root schema
 * @param path place from the root: numbers are list indexes, names are members of objects or tables
 * @returns an empty list if the schema has no such place
 */
export function knownNames(whole: unknown, path: readonly PropertyKey[]): string[] {
  return Object.keys(shapeOf(schemaAt(whole, path)) ?? {});
}

/** One of the forms that a setting can have. */
export interface Form {
  /** Type name of the accepted value in the schema. */
  kind: string | undefined;
  /** The accepted values, if they are enumerated. */
  values: readonly unknown[] | undefined;
  /** The names of its members, if it is an object. */
  names: readonly string[];
  /** The required names. */
  needed: readonly string[];
}

/**
 * Returns the forms at a place of a schema, in its order; a single one if it is no union.
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

/** Returns the schema of the members of a list or table. */
function memberOf(schema: unknown, kind: 'element' | 'valueType'): unknown {
  let inner = schema as { element?: unknown; valueType?: unknown; unwrap?: () => unknown } | undefined;
  while (inner && inner[kind] === undefined && inner.unwrap) inner = inner.unwrap() as typeof inner;
  return inner?.[kind];
}

/** Returns the members of an object, of all its forms if it has several. */
function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  let inner = schema as
    | { shape?: Record<string, unknown>; options?: readonly unknown[]; unwrap?: () => unknown }
    | undefined;
  while (inner && !inner.shape && inner.unwrap) inner = inner.unwrap() as typeof inner;
  if (inner?.shape || !inner?.options) return inner?.shape;
  return Object.assign({}, ...inner.options.map(shapeOf));
}

/**
 * Returns the known name that was probably meant.
 * @returns undefined if none is near
 */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const ranked = names.map((known) => ({ known, distance: leven(name.toLowerCase(), known.toLowerCase()) }));
  ranked.sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  if (!best || best.distance > Math.max(2, Math.floor(name.length / 3))) return undefined;
  // Nothing matches: every letter would have to change.
  return best.distance < Math.max(name.length, best.known.length) ? best.known : undefined;
}
