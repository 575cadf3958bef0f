import { isUtf8 } from 'node:buffer';
import type { Refusal } from '../refusal.ts';

/** Deepest nesting of arrays and objects; no MCP message comes near it, and no recursion overflows on it. */
export const maxNesting = 100;

/** Most values in a body, containers included: an object of hundreds of thousands of members keeps a server busy for seconds. */
export const maxValues = 50_000;

/**
 * Reads a body as JSON, strictly: well-formed UTF-8 without a byte order mark, and strings that are well-formed
 * Unicode (T-138). Deep nesting and masses of members are refused by counting brackets and commas, before anything
 * recurses or is built (T-135); but a body too small to nest too deeply is read as it is.
 * @returns the value in a box, because every JSON value is a value
 * @see RFC 8259 section 8.1; RFC 7493 section 2.1
 */
export function parseJson(bytes: Uint8Array): { value: unknown } | Refusal {
  const body = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const shape = checkShape(body);
  if (shape) return shape;
  try {
    if (!isUtf8(body)) return { reason: 'not_json' };
    const text = body.toString('utf8');
    const value: unknown = JSON.parse(text);
    return mayHoldLoneSurrogate.test(text) && !isWellFormed(value) ? { reason: 'not_json' } : { value };
  } catch {
    return { reason: 'not_json' };
  }
}

const mayHoldLoneSurrogate = /\\u[dD][89a-fA-F]/;

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member));
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether a body is too small to nest too deeply or to hold too many values, which is true of nearly all. */
function isPlain(body: Buffer): boolean {
  // What is open has to be closed: this short, none is too deep.
  if (body.length <= 2 * maxNesting) return true;
  if (body.length > maxValues) return false;
  let containers = 0;
  for (const opening of [openArray, openObject])
    for (let at = body.indexOf(opening); at !== -1; at = body.indexOf(opening, at + 1))
      if (++containers > maxNesting) return false;
  return true;
}

function checkShape(body: Buffer): Refusal | undefined {
  if (isPlain(body)) return undefined;
  let depth = 0;
  let values = 1;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === comma) values++;
    else if (byte === openArray || byte === openObject) {
      values++;
      if (++depth > maxNesting) return { reason: 'nested_too_deep' };
    } else if (byte === closeArray || byte === closeObject) depth--;
    if (values > maxValues) return { reason: 'too_many_values' };
  }
  return undefined;
}
