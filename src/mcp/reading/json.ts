import { isUtf8 } from 'node:buffer';
import type { RequestId } from '@modelcontextprotocol/server';
import { type ExactJson, isExactNumber, isId, parseExact, plainJson } from '../../collections/exact-json.ts';
import type { Refusal } from '../http/refusal.ts';
import { isRecord } from '../protocol.ts';

/** Deepest nesting of arrays and objects; no MCP message comes near it, and no recursion overflows on it. */
export const maxNesting = 100;

/** Most values in a body, containers included: an object of hundreds of thousands of members keeps a server busy for seconds. */
export const maxValues = 50_000;

/** Most numbers of a message that have to be kept as they were written: each takes two microseconds. */
export const maxExactNumbers = 10_000;

/** Most different member names in a body. Each new name costs a parser far more than its size: 40,000 of them a second. */
export const maxNames = 10_000;

/**
 * Reads a body as JSON: well-formed UTF-8 (T-138), a byte order mark in front of it or not. Numbers are those that were
 * written, see `parseExact`, and a lone surrogate stays one (FA-40, FA-42). Deep nesting and masses of members are
 * refused by counting brackets and commas, before anything recurses or is built (T-135). So are masses of different names
 * (T-204). Text that is no JSON is refused as such, whatever its depth. A body too small for all this is read as it is.
 * @param most values that are read of an answer, numbers as they were written among them; of a message of a client these
 *   are {@link maxValues} and {@link maxExactNumbers}
 * @see RFC 8259 section 8.1; RFC 7493 section 2.1
 */
export function parseJson(bytes: Uint8Array, most?: number): ExactJson | Refusal {
  const given = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const body = withoutByteOrderMark(given);
  const shape = checkShape(body, most ?? maxValues);
  if (shape) return isUtf8(body) && mayBeJson(body) ? shape : { reason: 'not_json' };
  try {
    if (!isUtf8(body)) return { reason: 'not_json' };
    const json = parseExact(body.toString('utf8'), most ?? maxExactNumbers);
    if (!json) return { reason: 'too_many_values' };
    if (json.hasExactNumbers) for (const message of [json.value].flat()) readFrameNumbers(message);
    return json;
  } catch {
    return { reason: 'not_json' };
  }
}

/** Leaves out a byte order mark, which is no part of JSON, and with which some programs begin (RFC 8259 section 8.1). */
export function withoutByteOrderMark<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? (bytes.subarray(3) as Bytes) : bytes;
}

const subscriptionId = 'io.modelcontextprotocol/subscriptionId';

/** Places of a message that name a request, and the code of an error: they are compared with JavaScript numbers. */
const framePlaces: readonly (readonly string[])[] = [
  ['id'],
  ['error', 'code'],
  ['params', 'requestId'],
  ['params', 'progressToken'],
  ['params', '_meta', 'progressToken'],
  ['params', '_meta', subscriptionId],
  ['result', '_meta', subscriptionId],
];

/** Reads the numbers of a frame as JavaScript does: a server that writes floats answers 7 with 7.0. */
function readFrameNumbers(message: unknown): void {
  for (const place of framePlaces) {
    const name = place.at(-1) ?? '';
    const holder = place
      .slice(0, -1)
      .reduce<unknown>((value, member) => (isRecord(value) ? value[member] : undefined), message);
    if (!isRecord(holder) || !Object.hasOwn(holder, name) || !isExactNumber(holder[name])) continue;
    const number = plainJson<unknown>(holder[name]);
    if (Number.isSafeInteger(number)) holder[name] = number;
  }
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Returns true if a body is too small to nest too deeply or to hold too many values, which is true of nearly all. */
function isPlain(body: Buffer, most: number): boolean {
  // What is open has to be closed: this short, none is too deep.
  if (body.length <= 2 * maxNesting) return true;
  if (body.length > most) return false;
  let containers = 0;
  for (const opening of [openArray, openObject])
    for (let at = body.indexOf(opening); at !== -1; at = body.indexOf(opening, at + 1))
      if (++containers > maxNesting) return false;
  return true;
}

function checkShape(body: Buffer, most: number): Refusal | undefined {
  if (isPlain(body, most)) return undefined;
  let depth = 0;
  let values = 1;
  let strings = 0;
  const names = new Set<string>();
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === quote) {
      const end = endOfString(body, at + 1);
      if (end === -1) return undefined;
      // A value has at most a name and a string: text with more strings is no JSON, and finding their ends takes long.
      if (++strings > 2 * most) return { reason: 'too_many_values' };
      if (body[afterBlanks(body, end + 1)] === colon) {
        names.add(body.toString('latin1', at + 1, end));
        if (names.size > maxNames) return { reason: 'too_many_members' };
      }
      at = end;
    } else if (byte === comma) values++;
    else if (byte === openArray || byte === openObject) {
      values++;
      if (++depth > maxNesting) return { reason: 'nested_too_deep' };
    } else if (byte === closeArray || byte === closeObject) depth--;
    if (values > most) return { reason: 'too_many_values' };
  }
  return undefined;
}

/** Place of the quote that ends a string; -1 if none does. @param from place behind the opening quote */
function endOfString(body: Buffer, from: number): number {
  for (let at = body.indexOf(quote, from); at !== -1; at = body.indexOf(quote, at + 1)) {
    let before = at - 1;
    while (before >= from && body[before] === backslash) before--;
    if ((at - before) % 2 === 1) return at;
  }
  return -1;
}

/** Largest refused text that is read a second time to find the reason, in bytes. */
const maxReadAgain = 256 * 1024;

/** Returns true if a text may be JSON. Of a larger text, only the first and the last bracket are read. */
function mayBeJson(body: Buffer): boolean {
  if (body.length <= maxReadAgain) return isWellFormedJson(body);
  let end = body.length - 1;
  while (end > 0 && isBlank(body[end])) end--;
  const first = body[afterBlanks(body, 0)];
  return body[end] === (first === openArray ? closeArray : first === openObject ? closeObject : undefined);
}

/**
 * Returns true if bytes are one text of JSON. Reads each byte once, recurses into nothing and builds nothing, so that
 * it may read what is too deep or too large for a parser.
 * @see RFC 8259 section 2
 */
function isWellFormedJson(body: Buffer): boolean {
  // One byte for each open container: whether it is an object.
  const open = new Uint8Array(body.length);
  let depth = 0;
  let at = 0;
  let expected: 'value' | 'first value' | 'name' | 'first name' | 'end' = 'value';
  for (;;) {
    at = afterBlanks(body, at);
    const byte = body[at];
    if (expected === 'end') {
      if (depth === 0) return byte === undefined;
      const isObject = open[depth - 1] === 1;
      if (byte === comma) expected = isObject ? 'name' : 'value';
      else if (byte === (isObject ? closeObject : closeArray)) depth--;
      else return false;
      at++;
    } else if (
      byte === (expected === 'first name' ? closeObject : closeArray) &&
      expected.startsWith('first')
    ) {
      depth--;
      at++;
      expected = 'end';
    } else if (expected === 'name' || expected === 'first name') {
      at = byte === quote ? afterBlanks(body, afterString(body, at)) : unreadable;
      if (body[at] !== colon) return false;
      at++;
      expected = 'value';
    } else if (byte === openArray || byte === openObject) {
      open[depth++] = byte === openObject ? 1 : 0;
      at++;
      expected = byte === openObject ? 'first name' : 'first value';
    } else {
      at = byte === quote ? afterString(body, at) : afterScalar(body, at);
      if (at === unreadable) return false;
      expected = 'end';
    }
  }
}

/** A position without a byte, for text that is not JSON. */
const unreadable = Number.POSITIVE_INFINITY;

function afterBlanks(body: Buffer, from: number): number {
  let at = from;
  while (isBlank(body[at])) at++;
  return at;
}

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** @param from place of the opening quote */
function afterString(body: Buffer, from: number): number {
  for (let at = from + 1; at < body.length; at++) {
    const byte = body[at] as number;
    if (byte === quote) return at + 1;
    if (byte < 0x20) return unreadable;
    if (byte !== backslash) continue;
    const escaped = body[++at];
    if (escaped === 0x75) {
      for (let digit = 1; digit <= 4; digit++) if (!isHexDigit(body[at + digit])) return unreadable;
      at += 4;
    } else if (escaped === undefined || !escapes.has(escaped)) return unreadable;
  }
  return unreadable;
}

const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isHexDigit = (byte: number | undefined): boolean =>
  isDigit(byte) || (byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

const literals = ['true', 'false', 'null'].map((text) => Buffer.from(text));

function afterScalar(body: Buffer, from: number): number {
  const first = body[from];
  if (first !== 0x2d && !isDigit(first)) {
    const literal = literals.find(
      (one) => one[0] === first && body.compare(one, 0, one.length, from, from + one.length) === 0,
    );
    return literal ? from + literal.length : unreadable;
  }
  let at = first === 0x2d ? from + 1 : from;
  // No number begins with a zero that another digit follows.
  at = body[at] === 0x30 ? at + 1 : afterDigits(body, at);
  if (body[at] === 0x2e) at = afterDigits(body, at + 1);
  if (body[at] !== 0x65 && body[at] !== 0x45) return at;
  const sign = body[at + 1];
  return afterDigits(body, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
}

/** At least one digit. */
function afterDigits(body: Buffer, from: number): number {
  let at = from;
  while (isDigit(body[at])) at++;
  return at === from ? unreadable : at;
}

/**
 * Number of bytes read at the beginning and at the end: writers put the id there, before or after the other members.
 */
const maxLookedAt = 4096;

/** The id as the last member of the outermost object. */
const lastMember =
  /[,{]\s{0,20}"id"\s{0,20}:\s{0,20}(-?\d{1,64}|"(?:[^"\\]|\\.){0,1000}")\s{0,20}\}\s{0,20}$/;

/**
 * Finds the id of a JSON-RPC message that is not read, because it is too large, or no JSON in some place: the member
 * `id` of the outermost object, and never that of an object inside of one that was cut off. The whole is searched only
 * if it ends with an id, which takes less time than reading it as JSON would.
 * @returns undefined if there is none, or it is not near the beginning or the end
 */
export function outerId(bytes: Uint8Array): RequestId | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!/^\s*\{/.test(buffer.toString('latin1', 0, 20))) return undefined;
  const found = nearBeginning(buffer.subarray(0, maxLookedAt));
  if (found !== undefined) return found;
  const [, last] = lastMember.exec(buffer.toString('utf8', Math.max(0, buffer.length - maxLookedAt))) ?? [];
  return last !== undefined && endsWhole(buffer) ? idIn(last) : undefined;
}

function nearBeginning(bytes: Buffer): RequestId | undefined {
  let depth = 0;
  /** Start of the member, and start of its value, in the outermost object. */
  let member = 0;
  let value: number | undefined;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfText(bytes, at);
      continue;
    }
    const isClosing = byte === closeArray || byte === closeObject;
    if (depth === 1 && byte === colon) value = at;
    else if (depth === 1 && (byte === comma || isClosing)) {
      const isId = value !== undefined && parsed(bytes.toString('utf8', member, value)) === 'id';
      if (isId) return idIn(bytes.toString('utf8', Number(value) + 1, at));
      member = at + 1;
      value = undefined;
    }
    if (isClosing) depth--;
    else if ((byte === openObject || byte === openArray) && ++depth === 1) member = at + 1;
  }
  return undefined;
}

/** Returns true if the object that begins it ends with its last brace. */
function endsWhole(bytes: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at);
    else if (byte === openObject || byte === openArray) depth++;
    else if ((byte === closeObject || byte === closeArray) && --depth === 0)
      return at === bytes.lastIndexOf(closeObject);
  }
  return false;
}

function endOfText(bytes: Buffer, begin: number): number {
  let at = begin + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

function idIn(text: string): RequestId | undefined {
  const { id } = Object(parsed(`{"id":${text}}`)) as { id?: unknown };
  return isId(id) ? id : undefined;
}

function parsed(text: string): unknown {
  try {
    return parseExact(text).value;
  } catch {
    return undefined;
  }
}
