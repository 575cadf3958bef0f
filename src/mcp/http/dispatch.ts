import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { classifyInboundRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { legacyRevisions, modernRevision } from '../protocol.ts';
import { parseJson } from '../reading/json.ts';
import { maxInitializeBytes, readMessages, withPlainContent } from '../reading/messages.ts';
import { isMethodOfMcp } from '../reading/methods.ts';
import type { Exchange, Posted, Serve } from './exchange.ts';
import { isRefusal, type Refusal } from './refusal.ts';

/** Checks of a request before a transport sees it. */
export interface Preflight {
  checkMethod: (exchange: Exchange) => Refusal | undefined;
  checkAccept: (exchange: Exchange) => Refusal | undefined;
  body: BodyReading;
}

/** Options for reading bodies. */
export interface BodyReading {
  maxBytes: number;
  /** True if messages go on to servers elsewhere, which get numbers as they were written (FA-40). */
  isRelayed: boolean;
  /** True if another process may have to answer a request whose body was read here. */
  isKept?: boolean;
}

/** Most bodies of one principal that are read at once, if they are large or do not say how long they are. */
const maxLargeBodies = 8;

/** Bodies that announce no more than this many bytes are read without waiting for a turn. */
const smallBodyBytes = 65_536;

/**
 * Runs the common checks of all transports before one of them, in this order: headers, body size while reading, JSON,
 * messages.
 */
export function withPreflight(preflight: Preflight, serve: Serve): Serve {
  const { maxBytes, isRelayed, isKept } = preflight.body;

  const checkHeaders = (exchange: Exchange): Refusal | undefined =>
    preflight.checkMethod(exchange) ??
    checkContentLength(headerOf(exchange.headers, 'content-length'), maxBytes) ??
    (exchange.method === 'POST' ? checkContentType(headerOf(exchange.headers, 'content-type')) : undefined) ??
    checkContentEncoding(headerOf(exchange.headers, 'content-encoding')) ??
    preflight.checkAccept(exchange);

  const turns = createBodyTurns(maxLargeBodies);
  const readInTurn = async (
    body: Exchange['body'],
    length: string | undefined,
    authInfo: AuthInfo,
  ): Promise<Buffer | Refusal> => {
    const giveBack = await turns.take(principalKey(authInfo));
    return readBody(body, length, maxBytes).finally(giveBack);
  };

  const read = async ({ body, headers, authInfo }: Exchange): Promise<Buffer | Refusal> => {
    const length = headerOf(headers, 'content-length');
    const isSmall = length !== undefined && Number(length) <= smallBodyBytes;
    if (!isSmall) return readInTurn(body, length, authInfo);
    return takeWholeBody(body, length, maxBytes) ?? readBody(body, length, maxBytes);
  };

  return async (exchange) => {
    const refusal = checkHeaders(exchange);
    if (refusal) return refusal;
    if (exchange.method !== 'POST') return serve(exchange);
    const bytes = await read(exchange);
    if (!isRefusal(bytes)) exchange.bytes = bytes.length;
    if (isKept && !isRefusal(bytes)) exchange.sent = bytes;
    const posted = readPosted(bytes, exchange.headers, isRelayed);
    return isRefusal(posted) ? posted : serve(exchange, posted);
  };
}

/** Reads a body as messages. */
function readPosted(
  bytes: Buffer | Refusal,
  headers: Exchange['headers'],
  isRelayed: boolean,
): Posted | Refusal {
  if (isRefusal(bytes)) return bytes;
  const json = parseJson(bytes);
  if (isRefusal(json)) return json;
  const value = json.hasExactNumbers && !isRelayed ? withPlainContent(json.value) : json.value;
  const messages = readMessages(value);
  if (isRefusal(messages)) return asItsEra(messages, value, headers);
  const [first] = messages.requests;
  if (first?.method === 'initialize' && bytes.length > maxInitializeBytes)
    return { reason: 'initialize_too_large', id: first.id };
  return { value, messages };
}

/** Reports a method that 2026-07-28 does not have, whatever is wrong with its params (C3-06). */
function asItsEra(refusal: Refusal, value: unknown, headers: Exchange['headers']): Refusal {
  const { method } = Object(value) as { method?: unknown };
  const isModern = textOf(headerOf(headers, 'mcp-protocol-version'))?.trim() === modernRevision;
  const isRemoved = typeof method === 'string' && isMethodOfMcp(method) && !isMethodOfMcp(method, 'modern');
  if (refusal.reason !== 'params_not_valid' || !isModern || !isRemoved) return refusal;
  return { ...refusal, reason: 'method_not_served' };
}

/** The transports that share the MCP endpoint's path. */
export interface Eras {
  /** Serves the revisions up to 2025-11-25. */
  legacy: Serve;
  /** Serves 2026-07-28. */
  modern: (exchange: Exchange, posted: Posted) => ReturnType<Serve>;
}

/**
 * Creates the way of a request through the MCP endpoint: every check in its order, then the transport of its era. The
 * content of the request decides its era; an omitted header never makes a check weaker (B5-16, T-133).
 */
export function createDispatch({ legacy, modern }: Eras, body: BodyReading): Serve {
  const preflight: Preflight = {
    checkMethod: ({ method, headers }) =>
      checkMethod(method, textOf(headerOf(headers, 'mcp-protocol-version'))),
    checkAccept: ({ method, headers }) => checkAccept(method, headerOf(headers, 'accept')),
    body,
  };
  return withPreflight(preflight, (exchange, posted) => {
    if (!posted || isLegacyPost(exchange.headers, posted)) return legacy(exchange, posted);
    return modern(exchange, posted);
  });
}

function textOf(value: string | string[] | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/**
 * Returns true if a POST belongs to a revision up to 2025-11-25. Its own content decides; an absent header never leads
 * to weaker checks, only to the rules of the other era (B5-16, T-133). Two plain cases are decided here, because the
 * SDK's classification parses the whole message.
 * @see MCP 2026-07-28 lifecycle "Dual-era servers"
 */
export function isLegacyPost(headers: IncomingHttpHeaders, { value, messages }: Posted): boolean {
  const version = headerOf(headers, 'mcp-protocol-version');
  const method = headerOf(headers, 'mcp-method');
  const [message] = messages.list;
  if (!messages.isBatch && message?.method !== undefined) {
    const meta = message.params?._meta as Record<string, unknown> | undefined;
    const claimsModern = typeof meta === 'object' && meta !== null && PROTOCOL_VERSION_META_KEY in meta;
    const namesLegacy = version === undefined || legacyRevisions.includes(String(version));
    if (claimsModern && !namesLegacy) return false;
    if (!claimsModern && namesLegacy && method === undefined) return true;
  }
  const name = headerOf(headers, 'mcp-name');
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body: value,
    ...(version === undefined ? {} : { protocolVersionHeader: String(version) }),
    ...(method === undefined ? {} : { mcpMethodHeader: String(method) }),
    ...(name === undefined ? {} : { mcpNameHeader: String(name) }),
  });
  return outcome.kind === 'legacy';
}

/**
 * Returns a body that has arrived as a whole already. Small bodies arrive with the head of their request, and waiting
 * for them would cost more than parsing their JSON.
 * @param contentLength the announced length
 * @param maxBytes largest body
 * @returns undefined if the body is not complete: use {@link readBody}
 */
export function takeWholeBody(
  body: Readable,
  contentLength: string | undefined,
  maxBytes: number,
): Buffer | undefined {
  const { readable, readableLength, readableFlowing } = body;
  const isWhole = readable && readableLength > 0 && readableLength === Number(contentLength);
  if (!isWhole || readableFlowing === true || readableLength > maxBytes) return undefined;
  const bytes = body.read() as Buffer;
  // Its end is still to come, and has to be read as well.
  body.resume();
  return bytes;
}

const cutOff: Refusal = { reason: 'body_cut_off', headers: { Connection: 'close' } };

/**
 * Reads a body, and stops at the limit (T-134). Nearly every body of MCP is one small chunk, which is returned without a copy.
 * @param contentLength the announced length; a body of another length was cut off
 * @param maxBytes largest body
 */
export function readBody(
  body: Readable,
  contentLength: string | undefined,
  maxBytes: number,
): Promise<Buffer | Refusal> {
  // The sender has disconnected: no event of the body would follow.
  if (!body.readable) return Promise.resolve(cutOff);
  if (Number(contentLength) > maxBytes) return Promise.resolve(bodyTooLarge);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      body.off('data', take);
      body.pause();
      resolve(bodyTooLarge);
    };
    const breakOff = (): void => resolve(cutOff);
    body.on('data', take);
    body.on('end', () => {
      const isWhole = contentLength === undefined || length === Number(contentLength);
      const [only] = chunks;
      resolve(!isWhole ? cutOff : chunks.length === 1 && only ? only : Buffer.concat(chunks, length));
    });
    body.on('error', breakOff);
    body.on('close', breakOff);
  });
}

/** Queues for reading bodies that may be large, one for each principal. */
export interface BodyTurns {
  /**
   * Waits for a turn.
   * @param principal see `principalKey`
   * @returns releases the turn; call it once
   */
  take(principal: string): Promise<() => void>;
}

/**
 * Creates the queues, so that one principal cannot fill the memory with many bodies at once that never end (T-134,
 * T-143). The other bodies wait in the network, until Node's time limit of a request.
 * @param maxAtOnce maximum number of bodies of one principal that are read at the same time
 */
export function createBodyTurns(maxAtOnce: number): BodyTurns {
  const readers = new InFlightMap<string, { reading: number; waiting: (() => void)[] }>();

  const release = (principal: string): void => {
    const reader = readers.get(principal);
    if (!reader) return;
    const next = reader.waiting.shift();
    if (next) next();
    else if (--reader.reading === 0) readers.delete(principal);
  };
  return {
    async take(principal) {
      const reader = readers.get(principal) ?? { reading: 0, waiting: [] };
      readers.set(principal, reader);
      if (reader.reading < maxAtOnce) reader.reading++;
      else await new Promise<void>((resolve) => reader.waiting.push(resolve));
      return () => release(principal);
    },
  };
}

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
