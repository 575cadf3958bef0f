import { errorCodes } from '../oauth/mcp-error-codes.ts';
import { type Logger, loggable } from '../observability/logger.ts';
import type { Message, RequestMessage } from './checks/messages.ts';
import type { JsonRpcError } from './conversations/conversation.ts';

/** What stands in the place of a message that a server gave and JSON cannot hold. */
export const describeUnwritable: JsonRpcError = {
  code: errorCodes.internalError,
  message:
    'The MCP server gave something that cannot be written as JSON. The call may have had its effect; the log of the server says what it was.',
};

/** How many levels of objects in one another are written: more than anybody means, and far less than the stack bears. */
const maxDepth = 1_000;

/** How many of them are named where there are more. */
const namedLevels = 5;

const tooDeep = `has more than ${maxDepth} levels within it`;

/**
 * Finds what of a message of a server cannot be written as JSON. Asked where the message leaves the server, so that
 * whatever writes it later, to whatever transport, does not fail.
 * @param asked by the client: what the message answers or belongs to
 * @returns the error that stands in its place; what it was is in the log then
 */
export type CheckWritable = (message: Message, asked?: Asked) => JsonRpcError | undefined;

/** What of a request tells it from others, to who reads the log. Its arguments are none of it. */
export interface Asked {
  readonly method: string;
  /** Of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined;
}

/** Tells what a request asks for. */
export function askedOf({ method, params }: RequestMessage): Asked {
  const name = params?.name ?? params?.uri;
  return { method, name: typeof name === 'string' ? name : undefined };
}

/** Creates the check of what servers of this process say: they hand over objects, not JSON. */
export function createWritableCheck(logger: Logger): CheckWritable {
  return (message, asked) => {
    const fault = findUnwritable(message);
    if (fault === undefined) return undefined;
    logger.error(
      {
        method: asked?.method,
        name: loggable(asked?.name),
        said: message.method ?? 'the answer',
        fault: loggable(fault),
      },
      'an MCP server gave something that cannot be written as JSON',
    );
    return describeUnwritable;
  };
}

/** Where something stands that JSON cannot hold, and what is wrong with it. */
interface Fault {
  /** From the inside out: the members that lead there. */
  trail: { name: string | number; member: unknown }[];
  what: string;
}

/**
 * Says where something holds what `JSON.stringify` throws at: BigInts, circles, more levels than its stack may bear,
 * members that throw. Looks at no text, so that it costs little where much is said.
 * @returns a sentence for who wrote the server; undefined where all of it can be written
 */
export function findUnwritable(value: unknown): string | undefined {
  try {
    const fault = find(value, '', 0);
    return fault && describe(value, fault);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Looks for no circles: whoever follows one comes to the limit of depth. */
function find(value: unknown, name: string | number, depth: number): Fault | undefined {
  if (!canFail(value)) return undefined;
  const form = formOf(value, name);
  if (typeof form === 'bigint' || form instanceof BigInt) return { trail: [], what: 'is a BigInt' };
  if (typeof form !== 'object' || form === null) return undefined;
  if (depth === maxDepth) return { trail: [], what: tooDeep };
  if (Array.isArray(form)) {
    for (let index = 0; index < form.length; index++) {
      const fault = findWithin(form[index], index, depth);
      if (fault) return fault;
    }
    return undefined;
  }
  for (const key of Object.keys(form)) {
    const fault = findWithin((form as Record<string, unknown>)[key], key, depth);
    if (fault) return fault;
  }
  return undefined;
}

function findWithin(member: unknown, name: string | number, depth: number): Fault | undefined {
  const fault = find(member, name, depth + 1);
  fault?.trail.push({ name, member });
  return fault;
}

/** Whether it is more than text, a number or the like. */
function canFail(value: unknown): value is object | bigint {
  return (
    (typeof value === 'object' && value !== null) || typeof value === 'bigint' || typeof value === 'function'
  );
}

/** What is written in its place: itself, unless it says otherwise. */
function formOf(value: object | bigint, name: string | number): unknown {
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? toJSON.call(value, `${name}`) : value;
}

function describe(value: unknown, { trail, what }: Fault): string {
  const inwards = trail.toReversed();
  const place = (end?: number): string =>
    inwards
      .slice(0, end)
      .map(({ name }) => name)
      .join('.');
  if (what !== tooDeep) return `${place()} ${what}`;
  const outside = new Set([value]);
  for (const [index, { member }] of inwards.entries()) {
    if (outside.has(member)) return `${place(index + 1)} is an object it stands in itself`;
    outside.add(member);
  }
  return `${place(namedLevels)} ${what}`;
}
