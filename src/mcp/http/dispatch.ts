import type { IncomingHttpHeaders } from 'node:http';
import { classifyInboundRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { legacyRevisions, modernRevision } from '../protocol.ts';
import { parseJson } from '../reading/json.ts';
import { maxInitializeBytes, readMessages, withPlainContent } from '../reading/messages.ts';
import { isMethodOfMcp } from '../reading/methods.ts';
import { createBodyTurns, readBody, takeWholeBody } from './body.ts';
import type { Exchange, Posted, Serve } from './exchange.ts';
import {
  checkAccept,
  checkContentEncoding,
  checkContentLength,
  checkContentType,
  checkMethod,
  headerOf,
} from './headers.ts';
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
}

/** Most bodies of one principal that are read at once, if they are large or do not say how long they are. */
const maxLargeBodies = 8;

/** Bodies that announce no more than this many bytes are read without waiting for a turn. */
const smallBodyBytes = 65_536;

/**
 * Puts the checks that all transports have in common in front of one, in their order: what the headers say before
 * the body is read, its size while it is read, its JSON before its messages.
 */
export function withPreflight(preflight: Preflight, serve: Serve): Serve {
  const { maxBytes, isRelayed } = preflight.body;

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
    const posted = readPosted(await read(exchange), exchange.headers, isRelayed);
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

/** A revision that has not a method says so, whatever is wrong with its params (C3-06). */
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
 * Creates the way of a request through the MCP endpoint: every check in its order, then the era it belongs to.
 * What the request says decides its era; no header left out makes a check weaker (B5-16, T-133).
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
