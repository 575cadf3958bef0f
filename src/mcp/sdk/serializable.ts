import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { type Logger, loggable } from '../../observability/logger.ts';
import type { JsonRpcError, Message, RequestMessage } from '../protocol.ts';

/** Replacement of a server's message that JSON cannot hold. */
export const describeUnwritable: JsonRpcError = {
  code: errorCodes.internalError,
  message:
    'The MCP server gave something that cannot be written as JSON. The call may have had its effect; the log of the server says what it was.',
};

/** Maximum depth of nested objects: more than anybody needs, and far less than the stack allows. */
const maxDepth = 1_000;

/** Maximum number of named places. */
const namedLevels = 5;

const tooDeep = `has more than ${maxDepth} levels within it`;

/**
 * Finds the part of a server's message that cannot be written as JSON. Called as the message leaves the server, so that
 * no later writer fails.
 * @param asked by the client: what the message answers or belongs to
 * @returns the error that stands in its place; what it was is in the log then
 */
export type CheckWritable = (message: Message, asked?: Asked) => JsonRpcError | undefined;

/** Identifying parts of a request for the log, without its arguments. */
export interface Asked {
  readonly method: string;
  /** Of the tool or prompt, or the URI of the resource. */
  readonly name: string | undefined;
}

/** Describes a request. */
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

/** Place of a value that JSON cannot hold, and the reason. */
interface Fault {
  /** From the inside out: the members that lead there. */
  trail: { name: string | number; member: unknown }[];
  what: string;
}

/**
 * Finds a value at which `JSON.stringify` throws: BigInts, circles, more levels than its stack may bear, members that
 * throw. Texts are not inspected, so that long messages cost little.
 * @returns a sentence for who wrote the server; undefined if all of it can be written
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

/** Returns true if it is more than text, a number or the like. */
function canFail(value: unknown): value is object | bigint {
  return (
    (typeof value === 'object' && value !== null) || typeof value === 'bigint' || typeof value === 'function'
  );
}

/** Returns the value that is written in its place: `toJSON()` if it has one. */
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
