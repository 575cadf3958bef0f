declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/**
 * A number that JavaScript would write otherwise than it was written: beyond 2^53, with a zero at its end, with an exponent.
 * `JSON.stringify` writes its source text, so that what is carried arrives as it was sent (FA-40). It is an object without
 * members that mean anything: whatever computes with numbers asks {@link plainJson} first.
 */
export type ExactNumber = object;

/** Whether a value of {@link parseExact} is a number that stands there as it was written. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return JSON.isRawJSON(value);
}

/** A number of 16 digits or more, with an exponent, with a last zero behind its point, or minus zero. No shorter one changes. */
const mayChange = /(?:^|[:,[])\s*(?:-0(?![.\d])|-?(?:\d[\d.]{15}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)))/;

/** A value in a box, because every value of JSON is a value. */
export interface ExactJson {
  value: unknown;
  /** Whether it holds any {@link ExactNumber}. */
  hasExactNumbers?: true;
}

/**
 * Makes a number of its source text.
 * @throws SyntaxError if it is no JSON number or other scalar
 */
export function exactNumber(source: string): ExactNumber {
  return JSON.rawJSON(source);
}

/** Members that tell messages apart. Equal numbers in them are the same object as long as anybody holds it. */
const identifying: ReadonlySet<string> = new Set(['id', 'requestId', 'progressToken']);

/** Most numbers of one text that are remembered: a batch has no more ids. */
const maxIdentifying = 1_000;

/** Longest source of a number that is remembered, in characters: longer ones are no ids. */
const maxIdLength = 64;

/**
 * Reads JSON as `JSON.parse` does, but for numbers that JavaScript would write otherwise: see {@link ExactNumber}. Those of
 * `id`, `requestId` and `progressToken` can be compared and be keys of maps.
 * @throws SyntaxError if the text is no JSON
 */
export function parseExact(text: string): ExactJson {
  if (!mayChange.test(text)) return { value: JSON.parse(text) };
  let hasExactNumbers = false;
  let ids = 0;
  const value = JSON.parse(text, (name, member, { source }) => {
    if (typeof member !== 'number' || source === undefined || source === String(member)) return member;
    hasExactNumbers = true;
    const isId = identifying.has(name) && source.length <= maxIdLength && ++ids <= maxIdentifying;
    return isId ? sameNumber(source) : exactNumber(source);
  });
  return hasExactNumbers ? { value, hasExactNumbers } : { value };
}

const held = new Map<string, WeakRef<ExactNumber>>();
const dropped = new FinalizationRegistry<string>((source) => {
  if (held.get(source)?.deref() === undefined) held.delete(source);
});

function sameNumber(source: string): ExactNumber {
  const known = held.get(source)?.deref();
  if (known) return known;
  const number = JSON.rawJSON(source);
  held.set(source, new WeakRef(number));
  dropped.register(number, source);
  return number;
}

/** Whether a value may be the id of a request or a progress token: a text, or an integer however large (MCP "Requests"). */
export function isId(value: unknown): value is string | number {
  if (typeof value === 'string' || Number.isSafeInteger(value)) return true;
  return isExactNumber(value) && Number.isInteger(plain(value));
}

/** Gives a value with the nearest numbers of JavaScript in the place of {@link ExactNumber}s, as `JSON.parse` reads them. */
export function plainJson<Value>(value: Value): Value {
  return plain(value) as Value;
}

function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (isExactNumber(value)) return Number(JSON.stringify(value));
  const copy = Object.entries(value).map(([name, member]) => [name, plain(member)] as const);
  // Keeps a member `__proto__` a member.
  return Object.fromEntries(copy);
}
