import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { exactNumber, isExactNumber, parseExact } from '../../collections/exact-json.ts';
import type { Fetch } from '../context.ts';

/** Begins the texts that stand for numbers while the SDK reads a message. Nobody outside can write one. */
const mark = `number-${crypto.randomUUID()}-`;

/**
 * Writes JSON with a marked text in the place of each number that JavaScript would write otherwise: the SDK's transports
 * parse messages by themselves. Text that is no JSON is left as it is.
 */
export function markNumbers(text: string): string {
  try {
    const { value, hasExactNumbers } = parseExact(text);
    if (!hasExactNumbers) return text;
    return JSON.stringify(value, (_name, member: unknown) =>
      isExactNumber(member) ? `${mark}${JSON.stringify(member)}` : member,
    );
  } catch {
    return text;
  }
}

/** Puts the numbers in the place of marked texts, as they were written (FA-40). */
export function restoreNumbers(message: JSONRPCMessage): JSONRPCMessage {
  return restored(message) as JSONRPCMessage;
}

function restored(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith(mark) ? exactNumber(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = restored(members[name]);
  return value;
}

/** Marks the numbers in the answers of a fetch that are JSON. */
export function withMarkedNumbers(fetch: Fetch): Fetch {
  return async (target, init) => {
    const response = await fetch(target, init);
    const { status, statusText, headers } = response;
    const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '');
    if (response.body === null || !isJson) return response;
    return new Response(markNumbers(await response.text()), { status, statusText, headers });
  };
}
