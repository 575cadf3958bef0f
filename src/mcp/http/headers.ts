import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from './refusal.ts';

/**
 * Returns a header of a request, by its name in lower case; undefined if it was not sent. The room
 * reads all headers with this function. Each order in which clients send their headers makes an object of another
 * shape. V8 compiles a read of one fixed name for the shapes it has seen, and throws away the whole function around it
 * for the next shape (measured: ten functions, and 100 ms for all callers). A read of many names is compiled for any
 * shape.
 */
export function headerOf<Name extends keyof IncomingHttpHeaders>(
  headers: IncomingHttpHeaders,
  name: Name,
): IncomingHttpHeaders[Name] {
  return headers[name];
}

const methodsUntil2025 = ['GET', 'POST', 'DELETE'];
const methodsSince2026 = ['POST'];

/** First revision without sessions; dates compare as text. */
const firstRevisionWithoutSessions = '2026-07-28';

const revision = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Checks the HTTP method: POST, and up to 2025-11-25 GET and DELETE as well (B3-01, B5-01).
 * @param protocolVersion the `MCP-Protocol-Version` header
 */
export function checkMethod(method: string, protocolVersion: string | undefined): Refusal | undefined {
  const named = protocolVersion?.trim() ?? '';
  const isSince2026 = revision.test(named) && named >= firstRevisionWithoutSessions;
  const allowed = isSince2026 ? methodsSince2026 : methodsUntil2025;
  if (allowed.includes(method)) return undefined;
  return { reason: 'method_not_allowed', headers: { Allow: allowed.join(', ') } };
}

/**
 * Checks the announced length, before a byte of the body is read (T-134). The connection ends with the response, so
 * that the rest is not read either.
 * @param contentLength the `Content-Length` header
 * @param maxBytes largest body
 */
export function checkContentLength(contentLength: string | undefined, maxBytes: number): Refusal | undefined {
  if (contentLength === undefined || Number(contentLength) <= maxBytes) return undefined;
  return bodyTooLarge;
}

/** The refusal of a body over the limit, announced or found while reading. */
export const bodyTooLarge: Refusal = { reason: 'body_too_large', headers: { Connection: 'close' } };

/**
 * Checks that the body is announced as JSON in UTF-8 (RFC 8259 section 8.1).
 * @param contentType the `Content-Type` header
 */
export function checkContentType(contentType: string | undefined): Refusal | undefined {
  if (contentType === 'application/json') return undefined;
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') return { reason: 'not_json_type' };
  const charsets = parameters.filter((parameter) => parameter.startsWith('charset='));
  const foreign = charsets.some((parameter) => !/^charset="?utf-?8"?$/.test(parameter));
  return foreign ? { reason: 'charset_not_utf8' } : undefined;
}

/**
 * Checks that the body is not compressed: what is small on the wire may be huge in memory.
 * @param contentEncoding the `Content-Encoding` header
 */
export function checkContentEncoding(contentEncoding: string | undefined): Refusal | undefined {
  if (contentEncoding === undefined) return undefined;
  const coding = contentEncoding.trim().toLowerCase();
  return coding === '' || coding === 'identity' ? undefined : { reason: 'body_is_encoded' };
}

/** Content types of the responses to each method; the client must accept all of them. */
const responseTypes: Readonly<Record<string, readonly string[]>> = {
  POST: ['application/json', 'text/event-stream'],
  GET: ['text/event-stream'],
};

/** The value that nearly every client sends with a POST; it accepts everything. */
const usualAccept = 'application/json, text/event-stream';

/**
 * Checks that the client accepts every content type of a response. Wildcards count, and without `Accept` everything is
 * accepted (RFC 9110 section 12.5.1).
 * @param accept the `Accept` header
 * @see MCP transports "Sending Messages to the Server" (B3-02)
 */
export function checkAccept(method: string, accept: string | undefined): Refusal | undefined {
  if (accept === undefined || accept === usualAccept) return undefined;
  const ranges = parseRanges(accept);
  const missing = (responseTypes[method] ?? []).some((type) => !accepts(ranges, type));
  return missing ? { reason: 'not_acceptable' } : undefined;
}

/** Media ranges -> true if they are accepted (`q=0` means no). */
function parseRanges(accept: string): Map<string, boolean> {
  const ranges = new Map<string, boolean>();
  for (const part of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    ranges.set(range, !refused);
  }
  return ranges;
}

/** The most specific range decides. */
function accepts(ranges: ReadonlyMap<string, boolean>, type: string): boolean {
  const [main] = type.split('/');
  return ranges.get(type) ?? ranges.get(`${main}/*`) ?? ranges.get('*/*') ?? false;
}
