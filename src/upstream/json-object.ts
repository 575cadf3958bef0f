/** A JSON object that somebody else made: nothing is known of its members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** @returns the value where it is a JSON object, and undefined else */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** @returns the object in a text; undefined where it is no JSON, or none with an object at its top */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** @returns the value where it is a text with something in it, and undefined else */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
