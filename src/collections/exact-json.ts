declare global {
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/**
 * A number that JavaScript would write differently: beyond 2^53, with a trailing zero, with an exponent.
 * `JSON.stringify` writes its source text, so that a forwarded number arrives as it was sent (FA-40). It is an opaque
 * object: code that computes with numbers uses {@link plainJson} first.
 */
export type ExactNumber = object;

/** Returns whether a value of {@link parseExact} is a number kept as written. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return JSON.isRawJSON(value);
}

/**
 * A number of 16 digits or more, below 0.000001, with an exponent, with a trailing zero after the point, or minus zero.
 * No other number changes.
 */
const mayChange = /(?:^|[:,[])\s*(?:-0(?![.\d])|-?(?:\d[\d.]{15}|0\.0{6}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)))/;

/** A box for a JSON value, because every value is valid JSON. */
export interface ExactJson {
  value: unknown;
  /** True if it contains any {@link ExactNumber}. */
  hasExactNumbers?: true;
}

/** Members that identify messages. Equal numbers in them are the same object while anything holds it. */
const identifying: ReadonlySet<string> = new Set(['id', 'requestId', 'progressToken']);

/** Maximum number of remembered ids per text: a batch has no more. */
const maxIdentifying = 1_000;

/** Maximum length of a remembered number, in characters: longer ones are no ids. */
const maxIdLength = 64;

/** Prefix of the texts that replace numbers and names during parsing; unpredictable for senders. */
const mark = `kept-${crypto.randomUUID()}-`;

/** Follows {@link mark} in front of a name. No number begins so. */
const nameMark = 'n';

/**
 * Parses JSON like `JSON.parse`, except for numbers that JavaScript would write differently: see {@link ExactNumber}.
 * Those of `id`, `requestId` and `progressToken` can be compared and used as map keys. A reviver with source text
 * access would take a microsecond per value, whatever its type.
 *
 * V8 13.6 (Node 24) reads some names wrongly: after `{"a":1,"b\\":1}`, it takes the name of `{"a":1,"b\n":1}` for
 * `b\` too, as it compares the name it expects with text not yet unescaped. It is given no name with an escape.
 * @param most maximum number of such numbers and names; default: any
 * @returns undefined if there are more
 * @throws SyntaxError if the text is no JSON
 */
export function parseExact(text: string): ExactJson;
export function parseExact(text: string, most: number): ExactJson | undefined;
export function parseExact(text: string, most = Number.POSITIVE_INFINITY): ExactJson | undefined {
  const value: unknown = JSON.parse(text);
  const marked = markJson(text, most);
  if (marked === text) return { value };
  if (marked === undefined) return undefined;
  const exact: ExactJson = { value: undefined };
  exact.value = restore(JSON.parse(marked), exact);
  return exact;
}

/**
 * Replaces what a third-party parser would change in a JSON text by marked strings: numbers that JavaScript writes
 * differently, and names that need an escape. A name that needs none is written without.
 * @param text valid JSON
 * @returns JSON that {@link unmarkedJson} turns back after any number of parsers; the same text if nothing would change
 */
export function markJson(text: string): string;
export function markJson(text: string, most: number): string | undefined;
export function markJson(text: string, most = Number.POSITIVE_INFINITY): string | undefined {
  if (!mayChange.test(text) && !hasEscapedName(text)) return text;
  let marked = '';
  let copied = 0;
  let count = 0;
  let at = 0;
  while (at < text.length) {
    const first = text.charCodeAt(at);
    const isString = first === quote;
    if (!isString && first !== minus && !isDigit(first)) {
      at++;
      continue;
    }
    const end = isString ? endOfString(text, at + 1) : endOfNumber(text, at + 1);
    const source = text.slice(at, end);
    const safe = isString ? safeName(source, text, end) : safeNumber(source);
    if (safe !== source) {
      if (++count > most) return undefined;
      marked += text.slice(copied, at) + safe;
      copied = end;
    }
    at = end;
  }
  return copied === 0 ? text : marked + text.slice(copied);
}

const [quote, minus, backslash, colon] = [0x22, 0x2d, 0x5c, 0x3a];
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

function safeNumber(source: string): string {
  return source === String(Number(source)) ? source : `"${mark}${source}"`;
}

/**
 * @param source a string as written, quotes included
 * @param end position after it in the text
 */
function safeName(source: string, text: string, end: number): string {
  if (!source.includes('\\') || !isBeforeColon(text, end)) return source;
  const name: string = JSON.parse(source);
  const written = JSON.stringify(name);
  if (!written.includes('\\')) return written;
  return `"${mark}${nameMark}${withoutEscapes(written.slice(1, -1))}${nameEnd}"`;
}

/** Follows the text of a marked name. {@link withoutEscapes} writes no such text. */
const nameEnd = '~.';

/**
 * Writes the text between the quotes of a JSON string without a character that needs an escape. A name may have millions of
 * escapes: `replace` takes seconds for them.
 */
function withoutEscapes(text: string): string {
  return text.split('~').join('~0').split('\\').join('~1').split('"').join('~2');
}

/** Returns the JSON string of {@link withoutEscapes}, with its quotes. */
function stringOf(text: string): string {
  return `"${text.split('~2').join('"').split('~1').join('\\').split('~0').join('~')}"`;
}

/** Returns the name that a marked one stands for; any other as it is. */
export function unmarkedName(name: string): string {
  return name.startsWith(mark) ? JSON.parse(unmarkedJson(name)) : name;
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (' \n\r\t'.includes(text[at] ?? '-')) at++;
  return text.charCodeAt(at) === colon;
}

/** @param text valid JSON, in which a backslash stands in a string */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\'); at !== -1; ) {
    const end = endOfString(text, at);
    if (isBeforeColon(text, end)) return true;
    at = text.indexOf('\\', end);
  }
  return false;
}

function endOfNumber(text: string, from: number): number {
  let at = from;
  // A point, sign or exponent cannot follow a number in JSON.
  for (
    let code = text.charCodeAt(at);
    isDigit(code) || '.eE+-'.includes(text[at] ?? ' ');
    code = text.charCodeAt(at)
  )
    at++;
  return at;
}

/**
 * Returns the position after the closing quote of a string.
 * @param from position after its opening quote, or of an escape in it
 */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before >= from && text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}

/** Replaces marked strings by numbers and names as written. Modifies the given value, and tells the box of numbers. */
function restore(value: unknown, box: ExactJson): unknown {
  let ids = 0;
  const restored = (member: unknown, name: string): unknown => {
    if (typeof member === 'string') {
      if (!member.startsWith(mark)) return member;
      box.hasExactNumbers = true;
      const source = member.slice(mark.length);
      const isId = identifying.has(name) && source.length <= maxIdLength && ++ids <= maxIdentifying;
      return isId ? sameNumber(source) : JSON.rawJSON(source);
    }
    if (typeof member !== 'object' || member === null) return member;
    if (Array.isArray(member)) {
      for (let at = 0; at < member.length; at++) member[at] = restored(member[at], '');
      return member;
    }
    const members = member as Record<string, unknown>;
    let hasMarkedNames = false;
    for (const key of Object.keys(members)) {
      members[key] = restored(members[key], key);
      hasMarkedNames ||= key.startsWith(mark);
    }
    return hasMarkedNames ? withNames(members) : members;
  };
  return restored(value, '');
}

/** Returns a copy with the names that marked ones stand for, in the same order. Keeps a member `__proto__` as its own. */
function withNames(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [unmarkedName(key), member]));
}

/** Matches the first character after a number. */
const afterNumber = /[^\d.eE+-]|$/g;

/**
 * Writes the numbers and names of {@link markJson} as they were written.
 * @param text JSON, or one marked text
 */
export function unmarkedJson(text: string): string {
  let written = '';
  let copied = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, copied)) {
    written += text.slice(copied, text[at - 1] === '"' ? at - 1 : at);
    const from = at + mark.length;
    if (text.startsWith(nameMark, from)) {
      const end = text.indexOf(nameEnd, from);
      written += stringOf(text.slice(from + nameMark.length, end));
      copied = end + nameEnd.length;
    } else {
      afterNumber.lastIndex = from;
      copied = afterNumber.exec(text)?.index ?? text.length;
      written += text.slice(from, copied);
    }
    if (text[copied] === '"') copied++;
  }
  return written + text.slice(copied);
}

/** Returns the number that a marked text stands for; undefined for another value. */
export function markedNumber(value: unknown): number | undefined {
  if (typeof value !== 'string' || !value.startsWith(mark)) return undefined;
  return Number(value.slice(mark.length));
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

/**
 * Returns whether a value may be a request id or progress token: a string, or an integer of any size (MCP "Requests").
 */
export function isId(value: unknown): value is string | number {
  if (typeof value === 'string' || Number.isSafeInteger(value)) return true;
  return isExactNumber(value) && Number.isInteger(plain(value));
}

/** Returns a value with the nearest JavaScript numbers instead of {@link ExactNumber}s, as `JSON.parse` reads them. */
export function plainJson<Value>(value: Value): Value {
  return plain(value) as Value;
}

function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (isExactNumber(value)) return Number(JSON.stringify(value));
  const copy = Object.entries(value).map(([name, member]) => [name, plain(member)] as const);
  // Keeps a member `__proto__` as an own member.
  return Object.fromEntries(copy);
}

/** Returns the same text for equal JSON values, whatever the order of their members. Numbers are as they were written. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member) && !isExactNumber(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** Characters that JSON does not escape and that some readers, such as Node's readline, treat as line ends. */
const lineEnds = /[\u0085\u2028\u2029]/g;

/**
 * Formats a value as one line of JSON for every line reader.
 * @see MCP transports "stdio": messages are delimited by newlines and must not contain any (B1-03)
 */
export function jsonLine(value: unknown): string {
  const escaped = JSON.stringify(value).replace(
    lineEnds,
    (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}
