import { type Frames, type RequestMessage, readFrames } from '../checks/messages.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import { type Operation, readOperations } from './operations.ts';

/** The messages of one body or line, read once for every guard. */
export interface Messages extends Frames {
  /** What the messages use, all together. */
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

function withOperations(frames: Frames): Messages | Refusal {
  const { isBatch, list, requests } = frames;
  const operations = readOperations(list);
  if (typeof operations !== 'string') return { isBatch, list, requests, operations };
  const [first] = isBatch ? [] : requests;
  return { reason: operations, ...(first && { id: first.id }) };
}
