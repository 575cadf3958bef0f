import type { RequestId } from '@modelcontextprotocol/server';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';

/** Reason why a request is rejected before any MCP server sees it. */
export type RefusalReason =
  | 'method_not_allowed'
  | 'body_too_large'
  | 'body_cut_off'
  | 'not_json_type'
  | 'charset_not_utf8'
  | 'body_is_encoded'
  | 'not_acceptable'
  | 'json_not_acceptable'
  | 'not_json'
  | 'nested_too_deep'
  | 'too_many_values'
  | 'too_many_members'
  | 'name_too_long'
  | 'too_many_names'
  | 'params_not_valid'
  | 'method_not_served'
  | 'uri_unreadable'
  | 'not_a_message'
  | 'empty_batch'
  | 'batch_too_long'
  | 'initialize_in_batch'
  | 'batch_not_in_this_revision'
  | 'initialize_incomplete'
  | 'initialize_too_large'
  | 'session_missing'
  | 'session_unknown'
  | 'session_moves'
  | 'event_unknown'
  | 'protocol_version_unknown'
  | 'too_many_sessions'
  | 'too_many_calls'
  | 'too_many_streams'
  | 'too_many_requests'
  | 'tool_called_too_often'
  | 'sessions_exhausted'
  | 'request_id_in_use'
  | 'insufficient_scope'
  | 'ledger_unavailable'
  | 'closing';

/** A refusal, and the parts of the request that its response repeats. */
export interface Refusal {
  reason: RefusalReason;
  /** Id of the refused request, if there is exactly one. */
  id?: RequestId;
  headers?: Record<string, string>;
  data?: Record<string, unknown>;
}

/** The refusal of everything while the server stops. */
export const closing: Refusal = { reason: 'closing', headers: { 'Retry-After': '5' } };

/** The refusal of requests for a session that this process has released: it is served again in a moment, here or elsewhere. */
export const sessionMoves: Refusal = { reason: 'session_moves', headers: { 'Retry-After': '1' } };

/** The refusal of calls beyond those a principal may have running. */
export const tooManyCalls: Refusal = { reason: 'too_many_calls', headers: { 'Retry-After': '1' } };

/** The refusal of requests beyond those a principal may send. @param waitSeconds until there is room again */
export function tooManyRequests(waitSeconds: number): Refusal {
  return {
    reason: 'too_many_requests',
    headers: { 'Retry-After': String(waitSeconds) },
    data: { retryAfterSeconds: waitSeconds },
  };
}

/** The refusal of calls of a tool beyond those an account may make. @param waitSeconds until there is room again */
export function toolCalledTooOften(waitSeconds: number): Refusal {
  const reason = 'tool_called_too_often';
  return {
    reason,
    headers: { 'Retry-After': String(waitSeconds) },
    data: { reason, retryAfterSeconds: waitSeconds },
  };
}

/** Type guard for refusals among the results of a check. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'reason' in value;
}

const rows: Record<RefusalReason, { status: number; code: number; message: string }> = {
  method_not_allowed: {
    status: 405,
    code: -32000,
    message: 'This method is not served here. The Allow header names those that are.',
  },
  body_too_large: { status: 413, code: -32000, message: 'The request body is too large. Send less at once.' },
  body_cut_off: {
    status: 400,
    code: errorCodes.parseError,
    message: 'The request body ended early. Send it again.',
  },
  not_json_type: { status: 415, code: -32000, message: 'Send the body as Content-Type: application/json.' },
  charset_not_utf8: { status: 415, code: -32000, message: 'Send the body in UTF-8.' },
  body_is_encoded: { status: 415, code: -32000, message: 'Send the body without a Content-Encoding.' },
  not_acceptable: {
    status: 406,
    code: -32000,
    message: 'Send Accept: application/json, text/event-stream (for GET: text/event-stream).',
  },
  json_not_acceptable: { status: 406, code: -32000, message: 'Send Accept: application/json.' },
  not_json: {
    status: 400,
    code: errorCodes.parseError,
    message: 'Parse error: the body is not JSON in well-formed UTF-8.',
  },
  nested_too_deep: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'The body nests too deeply. Send it flatter.',
  },
  too_many_values: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'The body holds too many values. Send less at once.',
  },
  too_many_members: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'The body has members of too many different names. Send less at once.',
  },
  name_too_long: {
    status: 400,
    code: errorCodes.invalidParams,
    message: 'Invalid params: the method, name or URI is too long.',
  },
  too_many_names: {
    status: 400,
    code: errorCodes.invalidParams,
    message:
      'Invalid params: too many tools, prompts and resources are named at once, or their names are too long together. Ask for fewer in one request.',
  },
  method_not_served: {
    status: 404,
    code: errorCodes.methodNotFound,
    message: 'Method not found: this protocol revision does not have it.',
  },
  params_not_valid: {
    status: 400,
    code: errorCodes.invalidParams,
    message:
      'Invalid params: a member is missing or has not the type that the schema of MCP gives it (a name or URI must be a string).',
  },
  uri_unreadable: {
    status: 400,
    code: errorCodes.invalidParams,
    message: 'Invalid params: a URI is too long or encoded too often to be read. Write it plainly.',
  },
  not_a_message: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'Invalid request: the body is not a JSON-RPC 2.0 message (ids are strings or integers).',
  },
  empty_batch: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'Invalid request: the batch is empty.',
  },
  batch_too_long: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'Invalid request: a batch may hold at most 100 messages.',
  },
  initialize_in_batch: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'Invalid request: initialize must be sent alone, not in a batch.',
  },
  batch_not_in_this_revision: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'Invalid request: only protocol revision 2025-03-26 has batches. Send one message at a time.',
  },
  initialize_incomplete: {
    status: 400,
    code: errorCodes.invalidParams,
    message: 'Invalid params: initialize needs protocolVersion, capabilities and clientInfo.',
  },
  initialize_too_large: {
    status: 400,
    code: errorCodes.invalidParams,
    message: 'Invalid params: initialize is too large. Say less about the client; icons can be links.',
  },
  session_missing: {
    status: 400,
    code: -32000,
    message:
      'The Mcp-Session-Id header is missing. Send initialize first, then its session id on every request.',
  },
  session_unknown: {
    status: 404,
    code: -32001,
    message: 'There is no such session. Start a new one with initialize.',
  },
  session_moves: {
    status: 503,
    code: -32000,
    message: 'This session cannot be served here at the moment. Nothing was done; try again in a second.',
  },
  event_unknown: {
    status: 400,
    code: -32000,
    message: 'This session has no event with that Last-Event-ID any more. Open the stream without it.',
  },
  protocol_version_unknown: {
    status: 400,
    code: -32000,
    message: 'The MCP-Protocol-Version header names no revision that is served here.',
  },
  too_many_sessions: {
    status: 429,
    code: -32000,
    message: 'Too many sessions of this client are busy. End one with DELETE, or try again later.',
  },
  too_many_calls: {
    status: 429,
    code: -32000,
    message: 'Too many calls of this client are running. Wait for some to end.',
  },
  too_many_streams: {
    status: 429,
    code: -32000,
    message: 'Too many streams of this client are open. Close one, or try again later.',
  },
  too_many_requests: {
    status: 429,
    code: -32000,
    message:
      'Too many requests of this client for this account. Wait as long as Retry-After says, then send it again.',
  },
  tool_called_too_often: {
    status: 429,
    code: -32000,
    message: 'This account calls the tool too often. Wait as long as Retry-After says, then call it again.',
  },
  sessions_exhausted: {
    status: 503,
    code: -32000,
    message: 'The server holds as many sessions as it can. Try again later.',
  },
  request_id_in_use: {
    status: 400,
    code: errorCodes.invalidRequest,
    message: 'Invalid request: a request with this id is still being answered. Use a new id.',
  },
  insufficient_scope: {
    status: 403,
    code: -32000,
    message: 'The access token lacks a scope. Ask for all scopes named in the WWW-Authenticate header.',
  },
  ledger_unavailable: {
    status: 503,
    code: -32000,
    message:
      'Calls of this server must be recorded, and none can be at the moment. Nothing was called; try again later.',
  },
  closing: { status: 503, code: -32000, message: 'The server is stopping. Try again in a moment.' },
};

/** Returns the JSON-RPC error code of a refusal. */
export function codeOfRefusal({ reason }: Refusal): number {
  return rows[reason].code;
}

/** Sends a response with JSON. */
export interface JsonReply {
  json(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
}

/**
 * Writes a refusal as a JSON-RPC error with its HTTP status.
 * @see MCP transports "Sending Messages to the Server"; JSON-RPC 2.0 section 5.1
 */
export function sendRefusal({ reason, id, headers = {}, data }: Refusal, reply: JsonReply): void {
  const { status, code, message } = rows[reason];
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  reply.json(status, { jsonrpc: '2.0', id: id ?? null, error }, headers);
}
