import { errorCodes } from '../oauth/mcp-error-codes.ts';
import { type Logger, loggable } from '../observability/logger.ts';
import type { Message, RequestMessage } from './checks/messages.ts';
import type { JsonRpcError } from './conversations/conversation.ts';

/** What stands in the place of a message that a server gave and JSON cannot hold. */
export const notWritable: JsonRpcError = {
  code: errorCodes.internalError,
  message:
    'The MCP server gave something that cannot be written as JSON. The call may have had its effect; the log of the server says what it was.',
};

/**
 * Finds what of a message of a server cannot be written as JSON. Asked where the message leaves the server, so that
 * whatever writes it later, to whatever transport, does not fail.
 * @param request of the client, which the message answers or belongs to
 * @returns the error that stands in its place; what it was is in the log then
 */
export type CheckWritable = (message: Message, request?: RequestMessage) => JsonRpcError | undefined;

/** Creates the check of what servers of this process say: they hand over objects, not JSON. */
export function createWritableCheck(logger: Logger): CheckWritable {
  return (message, request) => {
    const fault = findUnwritable(message);
    if (fault === undefined) return undefined;
    const { method, params } = request ?? {};
    const named = params?.name ?? params?.uri;
    const name = typeof named === 'string' ? loggable(named) : undefined;
    logger.error(
      { method, name, said: message.method ?? 'the answer', fault: loggable(fault) },
      'an MCP server gave something that cannot be written as JSON',
    );
    return notWritable;
  };
}

/**
 * Says where something holds what `JSON.stringify` throws at: BigInts, circles, members that throw. Looks at no text, so
 * that it costs little where much is said.
 * @returns a sentence for who wrote the server; undefined where all of it can be written
 */
export function findUnwritable(value: unknown): string | undefined {
  try {
    return find(value, '', []);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function find(value: unknown, place: string, outside: readonly unknown[]): string | undefined {
  if (typeof value === 'bigint') return hasOwnForm(value) ? undefined : `${place} is a BigInt`;
  if (typeof value !== 'object' || value === null) return undefined;
  if (outside.includes(value)) return `${place} is an object it stands in itself`;
  if (hasOwnForm(value)) {
    JSON.stringify(value);
    return undefined;
  }
  const within = [...outside, value];
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string | number, unknown>)[name];
    // Most members are text or numbers.
    if (typeof member !== 'object' && typeof member !== 'bigint') continue;
    const fault = find(member, place === '' ? `${name}` : `${place}.${name}`, within);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function hasOwnForm(value: object | bigint): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}
