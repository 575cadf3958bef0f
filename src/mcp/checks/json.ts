import type { Refusal } from '../refusal.ts';

/** Deepest nesting of arrays and objects; no MCP message comes near it, and no recursion overflows on it. */
export const maxNesting = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a body as JSON, strictly: well-formed UTF-8 without a byte order mark, and strings that are well-formed
 * Unicode (T-138). Deep nesting is refused by counting brackets, before anything recurses (T-135).
 * @returns the value in a box, because every JSON value is a value
 * @see RFC 8259 section 8.1; RFC 7493 section 2.1
 */
export function parseJson(body: Uint8Array): { value: unknown } | Refusal {
  if (nestsDeeperThan(body, maxNesting)) return { reason: 'nested_too_deep' };
  try {
    const text = utf8.decode(body);
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

const quote = 0x22;
const backslash = 0x5c;
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

function nestsDeeperThan(body: Uint8Array, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openArray || byte === openObject) {
      if (++depth > limit) return true;
    } else if (byte === closeArray || byte === closeObject) depth--;
  }
  return false;
}
