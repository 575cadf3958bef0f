import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Client, ElicitRequestParams, ElicitResult } from '@modelcontextprotocol/client';
import { requireUrl } from '../../client/index.ts';
import { openBrowser } from '../../client/node/index.ts';
import { createPaint } from '../colour.ts';
import { type CommandIo, printable, printableLine } from '../output.ts';
import type { ProgressLine } from '../progress-line.ts';
import { isTerminal } from '../terminal.ts';
import { formField, readField } from './call-form.ts';

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
