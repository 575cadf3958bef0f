import { isRefusal, parseJson, readFramesOfServer } from '../../../mcp/building-blocks.ts';
import type { Message } from '../../../mcp/protocol.ts';
import { modernErrorCodes } from '../../../oauth/mcp-error-codes.ts';
import type { BackendFailure } from '../backend-errors.ts';
import { failureOfAnswer } from '../failure-of-answer.ts';

/**
 * Reads what a server sent as one JSON-RPC message, or a batch of them (B3-13, B3-15).
 * @param maxValues see `parseJson`
 * @returns the messages; or why they are none
 */
export function readAnswer(bytes: Uint8Array, maxValues?: number): readonly Message[] | BackendFailure {
  const json = parseJson(bytes, maxValues);
  if (isRefusal(json)) return failureOfAnswer(json.reason);
  const messages = readFramesOfServer(json.value);
  if (!isRefusal(messages)) return messages.list;
  return messages.reason === 'empty_batch' ? [] : 'backend_answer_unreadable';
}

/** Returns true if a message answers a request. */
export function isAnswer(message: Message): boolean {
  return message.method === undefined;
}

/**
 * Finds the answer to the request that was alone in a POST. An error that names no request, or none that there is, is about
 * this one (FA-47); a result is taken by its id alone.
 * @param isAnothers whether an id is that of another request under way
 */
export function answerOf(
  messages: readonly Message[],
  id: unknown,
  isAnothers: (id: Message['id']) => boolean = () => false,
): Message | undefined {
  const answers = messages.filter(isAnswer);
  const own = answers.find((message) => message.id === id);
  if (own) return own;
  const [only] = answers;
  return answers.length === 1 && only && 'error' in only && !isAnothers(only.id) ? only : undefined;
}

/** Returns true if a message is an error of 2026-07-28: whoever sent it is no server of an older transport (B5-15). */
export function isModernError(message: Message): boolean {
  const { error } = message as { error?: unknown };
  return modernErrorCodes.has((Object(error) as { code?: unknown }).code);
}
