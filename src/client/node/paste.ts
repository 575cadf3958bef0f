import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** The terminal in which a user can paste. */
export interface PasteTerminal {
  input: Readable;
  /** The output for echoed input; without it nothing is echoed. */
  output?: Writable | undefined;
  /**
   * True if `input` is a terminal. It is then read key by key, because its line buffer would cut long
   * addresses.
   */
  isTerminal: boolean;
  /** Shows the user one sentence. */
  say(sentence: string): void;
}

/** Lines within this time belong to one paste, in milliseconds. */
const pasteMs = 250;

/**
 * Waits until the user pastes the response to a login. Other text is rejected with an explanation.
 * @param terminal the terminal
 * @param expected the state of the response, and its redirect URI
 * @param signal ends the wait
 * @returns query of the redirect; undefined if the input ends first, or the signal is aborted
 * @see RFC 8252 section 8.10: a browser on another machine cannot reach the listener (CL-6)
 */
export function receivePaste(
  { input, output, isTerminal, say }: PasteTerminal,
  expected: { state: string; redirectUri: string },
  signal: AbortSignal,
): Promise<URLSearchParams | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const lines = createInterface({ input, output, terminal: isTerminal });
    let pasted = '';
    let timer: NodeJS.Timeout | undefined;
    const finish = (query: URLSearchParams | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      lines.off('close', judgeLast).close();
      input.pause();
      resolve(query);
    };
    const stop = (): void => finish(undefined);
    const judge = (): void => {
      const text = pasted;
      pasted = '';
      if (text.trim() === '') return;
      const read = readPastedAnswer(text, expected);
      if ('query' in read) finish(read.query);
      else say(read.problem);
    };
    const judgeLast = (): void => {
      judge();
      finish(undefined);
    };
    signal.addEventListener('abort', stop);
    lines.on('line', (line) => {
      if (pasted.length <= maxPastedLength) pasted += `${line}\n`;
      clearTimeout(timer);
      timer = setTimeout(judge, pasteMs);
    });
    lines.on('SIGINT', () => {
      finish(undefined);
      process.kill(process.pid, 'SIGINT');
    });
    lines.once('close', judgeLast);
  });
}

/** The query of a pasted redirect, or the problem of the text. */
export type PastedAnswer = { query: URLSearchParams } | { problem: string };

/** Maximum length of a pasted address, in characters. */
const maxPastedLength = 16 * 1024;

/** Returns the query of a pasted address, or of a part of one. */
function queryOf(text: string): URLSearchParams | undefined {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.searchParams;
  const query = text.slice(text.indexOf('?') + 1);
  return /^(?:code|state|iss|error)=/.test(query) ? new URLSearchParams(query) : undefined;
}

/**
 * Reads a pasted redirect: the address that the browser on another machine could not open, or its query. Line
 * breaks, quotes and angle brackets around it are ignored.
 * @param text the pasted text
 * @param expected the state of the response, and its redirect URI
 * @returns the query, or a sentence about the problem, which repeats nothing of the text
 * @see RFC 6749 sections 4.1.2 and 10.12 (A6-04, CL-6)
 */
export function readPastedAnswer(
  text: string,
  expected: { state: string; redirectUri: string },
): PastedAnswer {
  const wanted = `the whole address the browser ends at, beginning with ${expected.redirectUri}`;
  if (text.length > maxPastedLength) return { problem: `That is too long for an address. Paste ${wanted}.` };
  const bare = text.replace(/\s+/g, '').replace(/^["'<`]+|["'>`]+$/g, '');
  const query = queryOf(bare);
  if (query === undefined) return { problem: `That is no address with an answer in it. Paste ${wanted}.` };
  if (query.has('response_type') || query.has('code_challenge'))
    return {
      problem: `That is the address of the login itself. Open it, allow the access, then paste ${wanted}.`,
    };
  if (!query.has('code') && !query.has('error'))
    return {
      problem: `That address has no answer in it, maybe the login is not finished. Paste ${wanted}.`,
    };
  const states = query.getAll('state');
  if (states.length === 0)
    return { problem: `The part with "state=" is missing: the address is cut off. Paste ${wanted}.` };
  if (states.length > 1 || states[0] !== expected.state)
    return {
      problem:
        'That is the answer of another login, or it is cut off. Open the address shown above once more, and paste what comes of it.',
    };
  return { query };
}
