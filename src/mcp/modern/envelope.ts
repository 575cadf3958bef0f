import type { IncomingHttpHeaders } from 'node:http';
import {
  CLIENT_CAPABILITIES_META_KEY,
  classifyInboundRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
} from '@modelcontextprotocol/server';
import { isExactNumber, isId } from '../../collections/exact-json.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { headerOf } from '../http/dispatch.ts';
import type { Posted } from '../http/exchange.ts';
import { type Answer, isRecord, type Message, modernRevision } from '../protocol.ts';

/**
 * Checks that a message is a complete one of 2026-07-28: alone, with the required `_meta`, and of a served revision.
 * @returns the error response; undefined if the message is valid
 * @see MCP 2026-07-28 "Request Metadata", transports "Protocol Version Header" (C3-01, B5-02, B5-05)
 */
export function checkEnvelope(headers: IncomingHttpHeaders, { value, messages }: Posted): Answer | undefined {
  const version = headerOf(headers, 'mcp-protocol-version');
  const method = headerOf(headers, 'mcp-method');
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body: messages.isBatch ? value : withReadableIds(value, messages.list),
    ...(version === undefined ? {} : { protocolVersionHeader: String(version) }),
    ...(method === undefined ? {} : { mcpMethodHeader: String(method) }),
  });
  if (outcome.kind === 'reject') {
    const { httpStatus, code, message, data } = outcome;
    return { status: httpStatus, error: { code, message, ...(data === undefined ? {} : { data }) } };
  }
  const requested = outcome.kind === 'modern' ? outcome.classification.revision : outcome.requestedVersion;
  if (outcome.kind === 'modern' && requested === modernRevision) return undefined;
  const message = `Unsupported protocol version: ${requested ?? 'none'}`;
  const data = { supported: [modernRevision], ...(requested === undefined ? {} : { requested }) };
  return { status: 400, error: { code: errorCodes.unsupportedProtocolVersion, message, data } };
}

/** Returns the message in a form for the SDK, which reads no id and no progress token beyond 2^53. */
function withReadableIds(value: unknown, [message]: readonly Message[]): unknown {
  if (message?.id === undefined) return value;
  const isReadable = !isExactNumber(message.id) && !isExactNumber(progressTokenOf(message));
  return isReadable ? value : withIds(message, 0);
}

/**
 * Returns true if the message names 2026-07-28 in body and header. If the server checks the rest of its `_meta` itself,
 * this replaces {@link checkEnvelope}, which parses the whole message and costs more than the rest of a call.
 */
export function namesModernRevision(headers: IncomingHttpHeaders, { params }: Message): boolean {
  const meta = params?._meta as Record<string, unknown> | undefined;
  return (
    headerOf(headers, 'mcp-protocol-version') === modernRevision &&
    typeof meta === 'object' &&
    meta !== null &&
    meta[PROTOCOL_VERSION_META_KEY] === modernRevision
  );
}

/** Returns true if the message has the other required members of `_meta` (C3-01). */
export function hasRequiredMeta({ params }: Message): boolean {
  const meta = params?._meta as Record<string, unknown> | undefined;
  return isRecord(meta?.[CLIENT_CAPABILITIES_META_KEY]);
}

/** Returns the progress token of a request; undefined if it has none, or one that is not a string or number (C6-03). */
export function progressTokenOf({ params }: Message): RequestId | undefined {
  const token = (params?._meta as Record<string, unknown> | undefined)?.progressToken;
  return isId(token) ? token : undefined;
}

/**
 * Returns the request with another id, which also replaces its progress token. Unknown members are removed, because the
 * SDK's servers silently drop a message that has some.
 * @param id unique among all requests to the server (T-127)
 */
export function withIds(request: Message, id: number): JSONRPCMessage {
  const { method, params } = request;
  const inner = { jsonrpc: '2.0', id, method } as Pick<JSONRPCRequest, 'jsonrpc' | 'id' | 'method'>;
  if (params === undefined) return inner;
  const { progressToken, ...meta } = (params._meta ?? {}) as Record<string, unknown>;
  if (progressToken === undefined) return { ...inner, params };
  const hasToken = progressTokenOf(request) !== undefined;
  return { ...inner, params: { ...params, _meta: hasToken ? { ...meta, progressToken: id } : meta } };
}
