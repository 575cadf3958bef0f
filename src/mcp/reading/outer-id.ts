import type { RequestId } from '@modelcontextprotocol/server';
import { isId, parseExact } from '../../collections/exact-json.ts';

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

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
