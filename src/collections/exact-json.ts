declare global {
  interface JSON {
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

/** Members that tell messages apart. Equal numbers in them are the same object as long as anybody holds it. */
const identifying: ReadonlySet<string> = new Set(['id', 'requestId', 'progressToken']);

/** Most numbers of one text that are remembered: a batch has no more ids. */
const maxIdentifying = 1_000;

/** Longest source of a number that is remembered, in characters: longer ones are no ids. */
const maxIdLength = 64;

/** Begins the texts that stand for numbers while they are parsed. Nobody outside can write one. */
const mark = `number-${crypto.randomUUID()}-`;

/**
 * Reads JSON as `JSON.parse` does, but for numbers that JavaScript would write otherwise: see {@link ExactNumber}. Those of
 * `id`, `requestId` and `progressToken` can be compared and be keys of maps. A reviver is given the source text of numbers
 * as well, but takes a microsecond for each value, whatever it is.
 * @param most such numbers that are read; any number of them by default
 * @returns undefined if there are more
 * @throws SyntaxError if the text is no JSON
 */
export function parseExact(text: string): ExactJson;
export function parseExact(text: string, most: number): ExactJson | undefined;
export function parseExact(text: string, most = Number.POSITIVE_INFINITY): ExactJson | undefined {
  const value: unknown = JSON.parse(text);
  const marked = markNumbers(text, most);
  if (marked === text) return { value };
  return marked === undefined
    ? undefined
    : { value: restoreNumbers(JSON.parse(marked)), hasExactNumbers: true };
}

/**
 * Writes JSON with a text in the place of each number that would change, for a parser that is not ours.
 * @param text valid JSON
 * @returns JSON that {@link writtenNumbers} turns back after any number of parsers; the same text if no number would change
 */
export function markNumbers(text: string): string;
export function markNumbers(text: string, most: number): string | undefined;
export function markNumbers(text: string, most = Number.POSITIVE_INFINITY): string | undefined {
  if (!mayChange.test(text)) return text;
  let marked = '';
  let copied = 0;
  let count = 0;
  let at = 0;
  while (at < text.length) {
    const first = text.charCodeAt(at);
    if (first === quote) at = endOfString(text, at + 1);
    else if (first !== minus && !isDigit(first)) at++;
    else {
      const end = endOfNumber(text, at + 1);
      const source = text.slice(at, end);
      if (source !== String(Number(source))) {
        if (++count > most) return undefined;
        marked += `${text.slice(copied, at)}"${mark}${source}"`;
        copied = end;
      }
      at = end;
    }
  }
  return copied === 0 ? text : marked + text.slice(copied);
}

const [quote, minus] = [0x22, 0x2d];
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

function endOfNumber(text: string, from: number): number {
  let at = from;
  // Point, signs and exponent: what follows a number in JSON is none of them.
  for (
    let code = text.charCodeAt(at);
    isDigit(code) || '.eE+-'.includes(text[at] ?? ' ');
    code = text.charCodeAt(at)
  )
    at++;
  return at;
}

/** Place behind the quote that ends a string. @param from place behind its first quote */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}

/** Puts the numbers, as they were written, in the place of marked texts. Changes the value that it is given. */
function restoreNumbers<Value>(value: Value): Value {
  let ids = 0;
  const restored = (member: unknown, name: string): unknown => {
    if (typeof member === 'string') {
      if (!member.startsWith(mark)) return member;
      const source = member.slice(mark.length);
      const isId = identifying.has(name) && source.length <= maxIdLength && ++ids <= maxIdentifying;
      return isId ? sameNumber(source) : JSON.rawJSON(source);
    }
    if (typeof member !== 'object' || member === null) return member;
    if (Array.isArray(member))
      for (let at = 0; at < member.length; at++) member[at] = restored(member[at], '');
    else {
      const members = member as Record<string, unknown>;
      for (const key of Object.keys(members)) members[key] = restored(members[key], key);
    }
    return member;
  };
  return restored(value, '') as Value;
}

const marked = new RegExp(`"?${mark}(-?[\\d.eE+-]+)"?`, 'g');

/**
 * Writes the numbers of {@link markNumbers} as they were written.
 * @param text JSON, or one marked text
 */
export function writtenNumbers(text: string): string {
  return text.includes(mark) ? text.replace(marked, '$1') : text;
}

/** Returns the number that a marked text stands for; undefined for another value. */
export function markedNumber(value: unknown): number | undefined {
  return typeof value === 'string' && value.startsWith(mark) ? Number(value.slice(mark.length)) : undefined;
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
