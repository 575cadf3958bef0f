import { RELATED_TASK_META_KEY } from '@modelcontextprotocol/server';
import { isId } from '../../collections/exact-json.ts';
import type { Refusal } from '../http/refusal.ts';
import { type Frames, isRecord, type Message, type RequestMessage } from '../protocol.ts';

/** Most messages of a batch. */
export const maxBatchLength = 100;

/**
 * Reads a JSON value as one JSON-RPC message or a batch of them. Params are not read, apart from `_meta`.
 * @see JSON-RPC 2.0 sections 4 and 6; MCP 2025-03-26 "Batching" (B3-13, B3-14, C1-01, T-136)
 */
export function readFrames(value: unknown): Frames | Refusal {
  if (!Array.isArray(value)) {
    if (!isMessage(value)) return { reason: 'not_a_message' };
    return { isBatch: false, list: [value], requests: isRequest(value) ? [value] : [] };
  }
  if (value.length === 0) return { reason: 'empty_batch' };
  if (value.length > maxBatchLength) return { reason: 'batch_too_long' };
  if (!value.every(isMessage)) return { reason: 'not_a_message' };
  if (value.some(({ method }) => method === 'initialize')) return { reason: 'initialize_in_batch' };
  return { isBatch: true, list: value, requests: value.filter(isRequest) };
}

/**
 * Reads a value as {@link readFrames} does, from a server: some write an object without members as an empty array, as
 * PHP has one form for both.
 */
export function readFramesOfServer(value: unknown): Frames | Refusal {
  const isList = Array.isArray(value) && value.length <= maxBatchLength;
  return readFrames(isList ? value.map(withParams) : withParams(value));
}

function withParams(value: unknown): unknown {
  if (!isRecord(value) || value.method === undefined) return value;
  const { params } = value;
  if (isEmptyArray(params)) {
    const { params: _none, ...others } = value;
    return others;
  }
  if (!isRecord(params) || !isEmptyArray(params._meta)) return value;
  const { _meta: _none, ...known } = params;
  return { ...value, params: known };
}

function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isMessage(value: unknown): value is Message {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false;
  const { id, method, params } = value;
  const hasId = isId(id);
  if (method === undefined) return isResponse(value, hasId);
  if (typeof method !== 'string' || 'result' in value || 'error' in value) return false;
  return (hasId || !('id' in value)) && (params === undefined || (isRecord(params) && hasGoodMeta(params)));
}

/** Returns true if a message has the form of a response. An error may come without an id (JSON-RPC 2.0 section 5). */
function isResponse(value: Record<string, unknown>, hasId: boolean): boolean {
  if ('result' in value) return hasId && !('error' in value) && isRecord(value.result);
  return isRecord(value.error);
}

/** Servers of the SDK drop a request with malformed `_meta` without a response, so it is refused here. */
function hasGoodMeta({ _meta }: Record<string, unknown>): boolean {
  if (_meta === undefined) return true;
  if (!isRecord(_meta)) return false;
  const task = _meta[RELATED_TASK_META_KEY];
  return task === undefined || (isRecord(task) && typeof task.taskId === 'string');
}

function isRequest(message: Message): message is RequestMessage {
  return message.method !== undefined && message.id !== undefined;
}
