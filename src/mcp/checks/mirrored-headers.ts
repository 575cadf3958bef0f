import type { IncomingHttpHeaders } from 'node:http';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { type ExactNumber, isExactNumber } from '../../collections/exact-json.ts';
import { headerOf } from './header.ts';
import type { RequestMessage } from './messages.ts';
import { isRecord } from './record.ts';

/** A parameter of a tool that is mirrored in a header. */
export interface MirroredParameter {
  /** Names of properties from the tool's arguments to the value. */
  path: readonly string[];
  /** The header is `Mcp-Param-` and this. */
  headerName: string;
  /** JSON Schema type of the value. */
  type: string;
}

/** A header that says something else than the body. */
export interface HeaderMismatch {
  header: string;
  /** Description of the fault, for the client's developer. */
  problem: string;
}

/** Method -> the parameter that `Mcp-Name` repeats. The tasks are of the extension io.modelcontextprotocol/tasks. */
export const namedBy: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/**
 * Checks that the headers that every request of 2026-07-28 repeats are there and say what the body says.
 * @param headers headers of the request, names in lower case, equal ones joined with `, ` (which matches nothing)
 * @see MCP 2026-07-28 transports "Standard Headers" (B5-03, B5-04, T-132)
 */
export function checkMirroredHeaders(
  headers: IncomingHttpHeaders,
  { method, params }: RequestMessage,
): HeaderMismatch | undefined {
  const meta = params?._meta;
  const version = isRecord(meta) ? meta[PROTOCOL_VERSION_META_KEY] : undefined;
  const nameOf = namedBy.get(method);
  const name = nameOf === undefined ? undefined : params?.[nameOf];
  return (
    checkHeader('MCP-Protocol-Version', headerOf(headers, 'mcp-protocol-version'), version) ??
    checkHeader('Mcp-Method', headerOf(headers, 'mcp-method'), method) ??
    (nameOf === undefined ? undefined : checkEncodedHeader('Mcp-Name', headerOf(headers, 'mcp-name'), name))
  );
}

/**
 * Checks that the parameters a tool declares with `x-mcp-header` are repeated in their headers: as they are, integers
 * by their value, and no header if the value is null or absent.
 * @param given arguments of the call
 * @see MCP 2026-07-28 transports "Custom Headers from Tool Parameters" (B5-08, B5-10, T-132)
 */
export function checkMirroredParameters(
  headers: IncomingHttpHeaders,
  parameters: readonly MirroredParameter[],
  given: unknown,
): HeaderMismatch | undefined {
  for (const { path, headerName, type } of parameters) {
    const header = `Mcp-Param-${headerName}`;
    const sent = headerOf(headers, header.toLowerCase());
    const value = valueAt(given, path);
    const mismatch =
      (type === 'integer' || type === 'number') && (typeof value === 'number' || isExactNumber(value))
        ? checkNumberHeader(header, sent, value)
        : checkEncodedHeader(header, sent, value);
    if (mismatch) return mismatch;
  }
  return undefined;
}

function checkHeader(
  header: string,
  sent: string | string[] | undefined,
  said: unknown,
): HeaderMismatch | undefined {
  if (sent === undefined) return { header, problem: 'it is missing' };
  return String(sent).trim() === said ? undefined : { header, problem: 'the body says something else' };
}

function checkEncodedHeader(
  header: string,
  sent: string | string[] | undefined,
  value: unknown,
): HeaderMismatch | undefined {
  const said = textOf(value);
  if (sent === undefined)
    return said === undefined ? undefined : { header, problem: 'it is missing, but the body has a value' };
  if (said === undefined) return { header, problem: 'it is there, but the body has no value' };
  const decoded = decodeHeaderValue(String(sent));
  if (decoded === undefined) return { header, problem: 'its value is not well encoded' };
  return decoded === said ? undefined : { header, problem: 'the body says something else' };
}

const decimal = /^-?\d+(\.\d+)?$/;

function checkNumberHeader(
  header: string,
  sent: string | string[] | undefined,
  value: number | ExactNumber,
): HeaderMismatch | undefined {
  if (sent === undefined) return { header, problem: 'it is missing, but the body has a value' };
  const decoded = decodeHeaderValue(String(sent));
  if (decoded === undefined || !decimal.test(decoded))
    return { header, problem: 'it is not a decimal number' };
  return isSameNumber(decoded, value) ? undefined : { header, problem: 'the body says something else' };
}

/** Beyond 2^53 different numbers are the same to JavaScript, so their digits are compared. */
function isSameNumber(decoded: string, value: number | ExactNumber): boolean {
  const said = Number(JSON.stringify(value));
  return (
    decoded === JSON.stringify(value) ||
    (Number(decoded) === said && Math.abs(said) <= Number.MAX_SAFE_INTEGER)
  );
}

const sentinel = /^=\?base64\?(.*)\?=$/;
const canonicalBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const visible = /^[\t\x20-\x7e]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes the value of `Mcp-Name` or `Mcp-Param-…`: as it is, or UTF-8 in `=?base64?…?=`.
 * @returns undefined if it is neither
 * @see MCP 2026-07-28 transports "Value Encoding"
 */
function decodeHeaderValue(sent: string): string | undefined {
  const value = sent.trim();
  if (!visible.test(value)) return undefined;
  const encoded = sentinel.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!canonicalBase64.test(encoded)) return undefined;
  try {
    return utf8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}

/** Returns the header form of a value in the body; undefined if the value has none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (isExactNumber(value)) return JSON.stringify(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function valueAt(given: unknown, path: readonly string[]): unknown {
  let at = given;
  for (const name of path) at = isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return at;
}
