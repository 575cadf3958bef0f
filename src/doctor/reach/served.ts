import { parseObject } from '../../oauth/foreign-json.ts';
import type { Answer } from '../ask.ts';
import { mediaType } from '../describe-answer.ts';

/** JSON-RPC "Invalid params": so answers who has looked for a tool that does not exist. */
const invalidParams = -32602;

/** Returns the JSON-RPC message of a response, also if it arrived as an event; undefined if there is none. */
export function messageOf(answer: Answer): Record<string, unknown> | undefined {
  if (answer.kind === 'unanswered') return undefined;
  const isStream = mediaType(answer) === 'text/event-stream';
  return parseObject(isStream ? (/^data:[ ]?(\S[^\r\n]*)/m.exec(answer.text)?.[1] ?? '') : answer.text);
}

/**
 * Returns true if an operation was carried out, or would have been if there were what it names. An error of JSON-RPC
 * with status 200 is no service: some servers refuse in that way.
 * @param answer to a JSON-RPC request, or to a GET for a stream
 * @see JSON-RPC 2.0 sections 5 and 5.1
 */
export function isServed(answer: Answer): boolean {
  if (answer.kind === 'unanswered' || answer.status < 200 || answer.status > 299) return false;
  if (answer.method === 'GET') return mediaType(answer) === 'text/event-stream';
  const { result, error } = messageOf(answer) ?? {};
  return result !== undefined || (Object(error) as { code?: unknown }).code === invalidParams;
}
