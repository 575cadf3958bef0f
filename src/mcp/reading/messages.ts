import { plainJson } from '../../collections/exact-json.ts';
import { isRefusal, type Refusal } from '../http/refusal.ts';
import { type Frames, type RequestMessage, readFrames } from './frames.ts';
import { type Operation, readOperations } from './operations.ts';
import { isRecord } from './record.ts';

/** The messages of one body or line, read once for every guard. */
export interface Messages extends Frames {
  /** Budget that all messages use together. */
  operations: readonly Operation[];
}

/**
 * Reads a value of JSON as the JSON-RPC messages of a client, and what they ask for.
 * @returns a refusal if a member that a guard reads has not the type of the schema; it names the request if there is one
 *   alone (FA-01, T-200)
 */
export function readMessages(value: unknown): Messages | Refusal {
  const frames = readFrames(value);
  return isRefusal(frames) ? frames : withOperations(frames);
}

/**
 * Reads one request that is no client's own, as one that a gateway makes.
 * @throws TypeError if its params are not valid
 */
export function messagesOf(request: RequestMessage): Messages {
  const messages = withOperations({ isBatch: false, list: [request], requests: [request] });
  if (isRefusal(messages))
    throw new TypeError(`The request ${request.method} cannot be read: ${messages.reason}.`);
  return messages;
}

/**
 * Converts the numbers in params and results to JavaScript numbers, for servers in this process, which compute with
 * them. Identifying numbers stay as they were written: ids, and progress tokens.
 */
export function withPlainContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainContent);
  if (!isRecord(value)) return value;
  const { params, result, error, ...frame } = value;
  return {
    ...frame,
    ...('params' in value && { params: withPlainParams(params) }),
    ...('result' in value && { result: plainJson(result) }),
    ...('error' in value && { error: plainJson(error) }),
  };
}

function withPlainParams(params: unknown): unknown {
  const plain = plainJson(params);
  if (!isRecord(params) || !isRecord(plain)) return plain;
  for (const name of ['requestId', 'progressToken']) if (name in params) plain[name] = params[name];
  const { _meta: meta } = params;
  if (isRecord(meta) && isRecord(plain._meta) && 'progressToken' in meta)
    plain._meta.progressToken = meta.progressToken;
  return plain;
}

function withOperations(frames: Frames): Messages | Refusal {
  const { isBatch, list, requests } = frames;
  const operations = readOperations(list);
  if (typeof operations !== 'string') return { isBatch, list, requests, operations };
  const [first] = isBatch ? [] : requests;
  return { reason: operations, ...(first && { id: first.id }) };
}
