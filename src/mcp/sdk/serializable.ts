import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { loggable } from '../../observability/loggable.ts';
import type { Logger } from '../../observability/logger.ts';
import type { JsonRpcError, Message, RequestMessage } from '../protocol.ts';

/** The error that replaces a server's message which JSON cannot represent. */
export const notSerializable: JsonRpcError = {
  code: errorCodes.internalError,
  message:
    'The MCP server gave something that cannot be written as JSON. The call may have had its effect; the log of the server says what it was.',
};

/** Maximum depth of nested objects. The stack allows far more. */
const maxDepth = 1_000;

/** Maximum number of levels in a reported path. */
const namedLevels = 5;

const tooDeep = `has more than ${maxDepth} levels within it`;

/**
 * Checks that a server's message can be written as JSON, as soon as it leaves the server, so that no later writer fails.
 * @param asked the client's request to which the message belongs
 * @returns the error that replaces the message; the log then has the reason
 */
export type CheckSerializable = (message: Message, asked?: RequestSummary) => JsonRpcError | undefined;

/** Identifying parts of a request for the log, without its arguments. */
export interface RequestSummary {
  readonly method: string;
  /** Of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined;
}

/** Returns the parts of a request that identify it in the log. */
export function summarizeRequest({ method, params }: RequestMessage): RequestSummary {
  const name = params?.name ?? params?.uri;
  return { method, name: typeof name === 'string' ? name : undefined };
}

/** Creates the check for servers in this process, which send objects and not JSON. */
export function createSerializableCheck(logger: Logger): CheckSerializable {
  return (message, asked) => {
    const fault = findUnserializable(message);
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
    return notSerializable;
  };
}

/** Place of a value that JSON cannot hold, and the reason. */
interface Fault {
  /** From the inside out: the members that lead there. */
  trail: { name: string | number; member: unknown }[];
  what: string;
}

/**
 * Finds a value at which `JSON.stringify` throws: BigInts, circles, too many levels, members that throw. Texts are not
 * inspected, so that long messages cost little.
 * @returns a sentence for the developer of the server; undefined if everything can be written
 */
export function findUnserializable(value: unknown): string | undefined {
  try {
    const fault = find(value, '', 0);
    return fault && describe(value, fault);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Circles need no check of their own, because they reach the maximum depth. */
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

/** Returns true for values that `JSON.stringify` may fail at. */
function canFail(value: unknown): value is object | bigint {
  return (
    (typeof value === 'object' && value !== null) || typeof value === 'bigint' || typeof value === 'function'
  );
}

/** Returns the value that JSON gets: `toJSON()` if there is one. */
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
