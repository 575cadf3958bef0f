import type { ClientOptions } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import {
  markedNumber,
  markJson,
  parseExact,
  plainJson,
  unmarkedJson,
  unmarkedName,
} from '../../collections/exact-json.ts';
import type { Fetch } from '../context.ts';

/**
 * The numbers of received messages that stay marked, see `markJson`: all of them, for a program that computes with
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

/** Reads marked numbers and names as JavaScript does, but for those of free content. */
function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== 'object' || value === null) return markedNumber(value) ?? value;
  const members = Object.entries(value).map(([name, member]) => [
    unmarkedName(name),
    freeContent.has(name) ? member : unmarked(member),
  ]);
  return Object.fromEntries(members);
}

function holderOf(place: readonly string[], message: unknown): unknown {
  return place.slice(0, -1).reduce<unknown>((value, name) => Object(value)[name], message);
}

/** Reads the marked numbers of a message. An id that JavaScript can hold is a number in both cases, as `7.0` is 7. */
function readMarked(message: unknown, numbers: MarkedNumbers): unknown {
  const read = numbers === 'all' ? message : unmarked(message);
  for (const place of framePlaces) {
    const name = place.at(-1) ?? '';
    const written = Object(holderOf(place, message))[name];
    const number = markedNumber(written);
    if (number === undefined) continue;
    const members = holderOf(place, read) as Record<string, unknown>;
    members[name] = Number.isSafeInteger(number) ? number : written;
  }
  return read;
}

/**
 * Marks the numbers and names of a message, which the SDK's transports parse by themselves. Text that is no JSON is left
 * as it is.
 * @returns JSON that `unmarkedJson` turns back (FA-40)
 */
export function markMessage(text: string, numbers: MarkedNumbers): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const marked = markJson(text);
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
  const body = unmarkedJson(init.body);
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

/** Returns a copy of a value with the names and the numbers of JavaScript in the place of marked ones. */
export function plainMarked<Value>(value: Value): Value {
  const text = JSON.stringify(value);
  const plain = unmarkedJson(text);
  return plain === text ? value : (plainJson(parseExact(plain).value) as Value);
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
        const validate = validator.getValidator<never>(plainMarked(schema));
        return (input) => validate(plainMarked(input));
      },
    },
  };
}
