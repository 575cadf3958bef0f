import { readFileSync } from 'node:fs';
import { parseExact } from '../../../collections/exact-json.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, printableLine } from '../../output.ts';

/** Longest arguments read from a file or from standard input, in characters. */
const maxLength = 16 * 1024 * 1024;

const forms = `Write key=value pairs, a JSON object, @file.json, or @- for standard input, for example: city=Bern or '{"city":"Bern"}'`;

function refuse(why: string): never {
  throw new CliError(why, exitCodes.usage, forms);
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    ({ value } = parseExact(text));
  } catch {
    return refuse('The arguments are not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse('The arguments have to be a JSON object.');
  return value as Record<string, unknown>;
}

async function readInput({ stdin }: CommandIo): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > maxLength) refuse('Standard input is too long.');
  }
  return text;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return refuse(`${printableLine(path)} cannot be read.`);
  }
}

/** Arguments as given: complete, or texts that the schema of the tool gives their types to. */
export interface GivenArguments {
  values: Record<string, unknown>;
  /** Arguments of the form `key=value`. */
  texts: Record<string, string>;
}

/**
 * Reads the arguments of a call. Later ones go before earlier ones.
 * @param words JSON objects, `@file`, `@-`, `key=value` and `key:=json`
 * @param io the surroundings
 * @throws CliError exit code 2
 */
export async function readArguments(words: readonly string[], io: CommandIo): Promise<GivenArguments> {
  const given: GivenArguments = { values: {}, texts: {} };
  const set = (values: Record<string, unknown>): void => {
    for (const [name, value] of Object.entries(values)) {
      delete given.texts[name];
      define(given.values, name, value);
    }
  };
  for (const word of words) {
    const pair = /^([^=:{[@"\s][^=:]*)(:?=)(.*)$/s.exec(word);
    if (word === '@-') set(parseObject(await readInput(io)));
    else if (word.startsWith('@')) set(parseObject(readFile(word.slice(1))));
    else if (pair?.[2] === ':=') set({ [pair[1] ?? '']: parseValue(pair[1] ?? '', pair[3] ?? '') });
    else if (pair) define(given.texts, pair[1] ?? '', pair[3] ?? '');
    else set(parseObject(word));
  }
  return given;
}

/** Sets a member, whatever its name is: `__proto__` is one like others. */
function define<T>(target: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function parseValue(name: string, text: string): unknown {
  try {
    return parseExact(text).value;
  } catch {
    return refuse(`The value of ${printableLine(name)} is not JSON.`);
  }
}

const isJsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** @returns the value a text stands for in a schema; the text itself where it is none */
function typed(name: string, text: string, schema: unknown): unknown {
  const { type } = Object(schema) as { type?: unknown };
  const types = new Set(Array.isArray(type) ? type : [type]);
  if (types.has('string')) return text;
  const isNumber = types.has('number') || types.has('integer');
  if (isNumber && isJsonNumber.test(text.trim())) return parseValue(name, text);
  if (isNumber && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('null') && text === 'null') return null;
  if (types.has('array') || types.has('object')) return parseValue(name, text);
  return text;
}

/**
 * Gives arguments their types.
 * @param given what was read
 * @param schema input schema of the tool; without one, pairs are texts
 * @throws CliError exit code 2
 */
export function typeArguments({ values, texts }: GivenArguments, schema: unknown): Record<string, unknown> {
  const { properties } = Object(schema) as { properties?: unknown };
  const known = Object(properties) as Record<string, unknown>;
  const args = { ...values };
  for (const [name, text] of Object.entries(texts))
    define(args, name, typed(name, text, Object.hasOwn(known, name) ? known[name] : undefined));
  return args;
}
