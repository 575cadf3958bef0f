import type { ClientOptions } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { markedNumber, markNumbers, writtenNumbers } from '../../collections/exact-json.ts';
import type { Fetch } from '../context.ts';

/**
 * The numbers of received messages that stay marked, see `markNumbers`: all of them, for a program that computes with
 * none, or those of ids and of the values that MCP gives no schema.
 */
export type MarkedNumbers = 'all' | 'content';

/** Places of a message that hold the id of a request, or name one, and the number that the SDK reads of every error. */
const framePlaces: readonly (readonly string[])[] = [
  ['id'],
  ['error', 'code'],
  ['params', 'requestId'],
  ['params', 'progressToken'],
  ['params', '_meta', 'progressToken'],
  ['params', '_meta', 'io.modelcontextprotocol/subscriptionId'],
  ['result', '_meta', 'io.modelcontextprotocol/subscriptionId'],
];

/** Members that may hold any JSON, and that the SDK does not look into. */
const freeContent: ReadonlySet<string> = new Set([
  'structuredContent',
  '_meta',
  'inputSchema',
  'outputSchema',
]);

/** Reads marked numbers as JavaScript does, but for those of free content. Changes the value that it is given. */
function unmarked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return markedNumber(value) ?? value;
  const members = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(members))
    if (!freeContent.has(name)) members[name] = unmarked(member);
  return value;
}

/** Reads the marked numbers of a message. An id that JavaScript can hold is a number in both cases, as `7.0` is 7. */
function readMarked(message: unknown, numbers: MarkedNumbers): unknown {
  const ids = framePlaces.flatMap((place) => {
    const name = place.at(-1) ?? '';
    const holder = place.slice(0, -1).reduce<unknown>((value, each) => Object(value)[each], message);
    const number = markedNumber(Object(holder)[name]);
    if (number === undefined) return [];
    const members = holder as Record<string, unknown>;
    return [{ members, name, id: Number.isSafeInteger(number) ? number : members[name] }];
  });
  const read = numbers === 'all' ? message : unmarked(message);
  for (const { members, name, id } of ids) members[name] = id;
  return read;
}

/**
 * Marks the numbers of a message, which the SDK's transports parse by themselves. Text that is no JSON is left as it is.
 * @returns JSON that `writtenNumbers` turns back (FA-40)
 */
export function markMessage(text: string, numbers: MarkedNumbers): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const marked = markNumbers(text);
  if (marked === text) return text;
  const value: unknown = JSON.parse(marked);
  const read = Array.isArray(value)
    ? value.map((message) => readMarked(message, numbers))
    : readMarked(value, numbers);
  return JSON.stringify(read);
}

/** Marks the numbers in the answers of a fetch that are JSON, and writes those of what it sends as they were written. */
export function withMarkedNumbers(fetch: Fetch, numbers: MarkedNumbers): Fetch {
  return async (target, init) => {
    const response = await fetch(target, init && written(init));
    const { status, statusText, headers } = response;
    const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '');
    if (response.body === null || !isJson) return response;
    return new Response(markMessage(await response.text(), numbers), { status, statusText, headers });
  };
}

function written(init: RequestInit): RequestInit {
  if (typeof init.body !== 'string') return init;
  const body = writtenNumbers(init.body);
  if (body === init.body) return init;
  const headers = new Headers(init.headers);
  for (const [name, value] of [...headers]) {
    const number = markedNumber(value);
    if (number === undefined) continue;
    // No header repeats an integer that JavaScript cannot hold (MCP 2026-07-28 "Custom Headers from Tool Parameters").
    if (Number.isSafeInteger(number)) headers.set(name, String(number));
    else headers.delete(name);
  }
  return { ...init, body, headers };
}

/** Returns a copy of a value with the numbers of JavaScript in the place of marked ones. */
function plainNumbers<Value>(value: Value): Value {
  const text = JSON.stringify(value);
  const plain = writtenNumbers(text);
  return plain === text ? value : (JSON.parse(plain) as Value);
}

/**
 * Options of the SDK's client for messages with marked numbers: schemas of tools and structured content are compared with
 * the numbers that JavaScript reads.
 */
export function readingMarkedNumbers(): Pick<ClientOptions, 'jsonSchemaValidator'> {
  const validator = new AjvJsonSchemaValidator();
  return {
    jsonSchemaValidator: {
      getValidator(schema) {
        const validate = validator.getValidator<never>(plainNumbers(schema));
        return (input) => validate(plainNumbers(input));
      },
    },
  };
}
