import { parseJson } from '../../../mcp/checks/json.ts';
import type { Message } from '../../../mcp/checks/messages.ts';
import { readMessages } from '../../../mcp/checks/messages.ts';
import { isRefusal } from '../../../mcp/refusal.ts';
import type { BackendFailure } from '../backend-errors.ts';

/**
 * Reads what a server sent as one JSON-RPC message, or a batch of them (B3-13, B3-15).
 * @returns the messages; or why they are none
 */
export function readAnswer(bytes: Uint8Array): readonly Message[] | BackendFailure {
  const json = parseJson(bytes);
  if (isRefusal(json))
    return json.reason === 'not_json' ? 'backend_answer_unreadable' : 'backend_answer_too_large';
  const messages = readMessages(json.value);
  if (!isRefusal(messages)) return messages.list;
  return messages.reason === 'empty_batch' ? [] : 'backend_answer_unreadable';
}

/** Whether a message answers a request. */
export function isAnswer(message: Message): boolean {
  return message.method === undefined;
}

/** Error codes that only servers of 2026-07-28 and later have. */
const modernCodes = new Set<unknown>([-32020, -32021, -32022]);

/** Whether a message is an error of 2026-07-28: whoever sent it is no server of an older transport (B5-15). */
export function isModernError(message: Message): boolean {
  const { error } = message as { error?: unknown };
  return modernCodes.has((Object(error) as { code?: unknown }).code);
}
