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
 * A number of 16 digits or more, with an exponent, with a trailing zero after the point, or minus zero. Shorter ones
 * never change.
 */
const mayChange = /(?:^|[:,[])\s*(?:-0(?![.\d])|-?(?:\d[\d.]{15}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)))/;

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

/** Prefix of the texts that replace numbers during parsing; unpredictable for senders. */
const mark = `number-${crypto.randomUUID()}-`;

/**
 * Parses JSON like `JSON.parse`, except for numbers that JavaScript would write differently: see {@link ExactNumber}.
 * Those of `id`, `requestId` and `progressToken` can be compared and used as map keys. A reviver with source text
 * access would take a microsecond per value, whatever its type.
 * @param most maximum number of such numbers; default: any
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
 * Replaces each number of a JSON text that would change by a marked string, for a third-party parser.
 * @param text valid JSON
 * @returns a text whose parsed value {@link restoreNumbers} takes; the same text if no number would change
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
 * @param from position after its opening quote
 */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === '\\') before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}

/** Replaces marked strings by the numbers as written. Modifies the given value. */
export function restoreNumbers<Value>(value: Value): Value {
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
