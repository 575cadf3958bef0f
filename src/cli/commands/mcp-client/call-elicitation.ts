import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Client, ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import { requireUrl } from '../../../client/index.ts';
import { openBrowser } from '../../../client/node/index.ts';
import { type CommandIo, createPaint, isTerminal, printable, printableLine } from '../../output.ts';
import type { ProgressLine } from '../../progress-line.ts';

/** Asks a person one question, and gives the line they answer with. Rejects where they give none. */
type Ask = (question: string) => Promise<string>;

/** @returns whether there is a person at the terminal who can be asked */
export function canAsk({ stdin, stderr }: CommandIo): boolean {
  return isTerminal(stdin) && isTerminal(stderr);
}

async function fillForm(
  { message, requestedSchema }: Extract<ElicitRequestParams, { requestedSchema: unknown }>,
  ask: Ask,
  say: (text: string) => void,
): Promise<ElicitResult> {
  say(printable(message));
  const required = new Set(requestedSchema.required ?? []);
  const content: Record<string, string | number | boolean | string[]> = {};
  for (const [name, schema] of Object.entries(requestedSchema.properties)) {
    const field = formField(name, schema as Record<string, unknown>, required.has(name));
    for (;;) {
      const read = readField(field, await ask(field.question));
      if ('value' in read) {
        if (read.value !== undefined) content[name] = read.value;
        break;
      }
      say(read.refused);
    }
  }
  const answer = await ask('Send this to the server? [Y/n/cancel] ');
  if (/^c/i.test(answer)) return { action: 'cancel' };
  return /^n/i.test(answer) ? { action: 'decline' } : { action: 'accept', content };
}

async function openUrl(
  { message, url }: Extract<ElicitRequestParams, { url: string }>,
  ask: Ask,
  say: (text: string) => void,
  env: CommandIo['env'],
): Promise<ElicitResult> {
  say(printable(message));
  const target = requireUrl(url, 'The URL the server wants opened').href;
  say(`The server wants you to open: ${target}`);
  if (!/^y/i.test(await ask(`Open ${new URL(target).host} in the browser? [y/N] `)))
    return { action: 'decline' };
  if (!(await openBrowser(target, env))) say('No browser could be started. Open the URL yourself.');
  return { action: 'accept' };
}

/**
 * Answers what a server asks in the middle of a call, with the person at the terminal: forms field by field, URLs shown
 * whole and opened only after consent.
 * @param client the client, before it connects; its capabilities have to say `elicitation`
 * @param io the surroundings
 * @param waiting the progress line, which makes room for questions
 * @see MCP client features "Elicitation" (C7-03, C7-04)
 */
export function answerElicitation(client: Client, io: CommandIo, waiting: ProgressLine): void {
  const paint = createPaint(io.stderr, io.env);
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }): Promise<ElicitResult> => {
    waiting.pause();
    const output = io.stderr instanceof Writable ? io.stderr : undefined;
    const terminal = createInterface({ input: io.stdin, ...(output && { output }), terminal: true });
    const gone = new AbortController();
    terminal.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, mcpReq.signal]);
    const ask: Ask = (question) =>
      terminal.question(paint('cyan', printableLine(question)).concat(' '), { signal });
    const say = (text: string): void => void io.stderr.write(`${text}\n`);
    try {
      return params.mode === 'url'
        ? await openUrl(params, ask, say, io.env)
        : await fillForm(params as Extract<ElicitRequestParams, { requestedSchema: unknown }>, ask, say);
    } catch (error) {
      if (!signal.aborted) throw error;
      return { action: 'cancel' };
    } finally {
      terminal.close();
    }
  });
}

/** A field of a form a server asks for. */
export interface FormField {
  /** What the person is asked, with the choices and the default. */
  question: string;
  schema: Record<string, unknown>;
  isRequired: boolean;
}

type Value = string | number | boolean | string[];

/** What a line means for a field: a value, none, or why it is refused. */
export type ReadField = { value: Value | undefined } | { refused: string };

/** The values to choose from, with what they are called. */
function choices(schema: Record<string, unknown>): { value: string; title: string }[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf, items } = schema;
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, at) => ({ value: String(value), title: String(names[at] ?? value) }));
  }
  const options = oneOf ?? anyOf;
  if (Array.isArray(options))
    return options.map((option) => {
      const { const: value, title } = Object(option) as Record<string, unknown>;
      return { value: String(value), title: String(title ?? value) };
    });
  return typeof items === 'object' && items !== null ? choices(items as Record<string, unknown>) : undefined;
}

/**
 * Describes a field for a person.
 * @param name of the property
 * @param schema of the property, as the server sent it
 * @see MCP client features "Elicitation", requested schema (C7-03)
 */
export function formField(name: string, schema: Record<string, unknown>, isRequired: boolean): FormField {
  const { title, description, type, default: preset } = schema;
  const options = choices(schema);
  const what = options
    ? options.map((one) => (one.title === one.value ? one.value : `${one.value} (${one.title})`)).join(', ')
    : String(type ?? 'text');
  const several = type === 'array' ? ', separated by commas' : '';
  const otherwise = preset === undefined ? (isRequired ? '' : ', may be empty') : ` [${String(preset)}]`;
  const about = typeof description === 'string' ? ` - ${description}` : '';
  const question = `${typeof title === 'string' ? title : name}${about} (${what}${several}${otherwise}):`;
  return { question: printableLine(question), schema, isRequired };
}

function readOne(text: string, schema: Record<string, unknown>): ReadField {
  const { type, minimum, maximum, minLength, maxLength } = schema;
  if (type === 'boolean') {
    if (/^(?:y|yes|true)$/i.test(text)) return { value: true };
    return /^(?:n|no|false)$/i.test(text) ? { value: false } : { refused: 'Answer yes or no.' };
  }
  if (type === 'number' || type === 'integer') {
    const value = Number(text);
    if (!Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value)))
      return { refused: `This is no ${type}.` };
    if (typeof minimum === 'number' && value < minimum) return { refused: `The least is ${minimum}.` };
    if (typeof maximum === 'number' && value > maximum) return { refused: `The most is ${maximum}.` };
    return { value };
  }
  if (typeof minLength === 'number' && text.length < minLength)
    return { refused: `At least ${minLength} characters.` };
  if (typeof maxLength === 'number' && text.length > maxLength)
    return { refused: `At most ${maxLength} characters.` };
  return { value: text };
}

/**
 * Reads a line as the value of a field.
 * @param field what was asked
 * @param line what the person typed; nothing stands for the default
 */
export function readField({ schema, isRequired }: FormField, line: string): ReadField {
  const text = line.trim();
  if (text === '') {
    const { default: preset } = schema;
    if (preset !== undefined) return { value: preset as Value };
    return isRequired ? { refused: 'This is needed.' } : { value: undefined };
  }
  const options = choices(schema)?.map(({ value }) => value);
  if (schema.type === 'array') {
    const values = text.split(',').map((one) => one.trim());
    const unknown = values.find((value) => options && !options.includes(value));
    return unknown === undefined ? { value: values } : { refused: `${printableLine(unknown)} is no choice.` };
  }
  if (options)
    return options.includes(text)
      ? { value: text }
      : { refused: `Choose: ${options.map(printableLine).join(', ')}` };
  return readOne(text, schema);
}
