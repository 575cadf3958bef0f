import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { maxPastedLength, readPastedAnswer } from './pasted-answer.ts';

/** Where a user can paste. */
export interface PasteTerminal {
  input: Readable;
  /** Where the terminal shows what is typed; without it nothing is shown. */
  output?: Writable | undefined;
  /** Whether `input` is a terminal. Its own line buffer would cut long addresses, so that it is read key by key. */
  isTerminal: boolean;
  /** Tells the user one sentence. */
  say(sentence: string): void;
}

/** Lines that come within this time belong to one paste, in milliseconds. */
const pasteMs = 250;

/**
 * Waits until the user pastes the answer to a login. What is no answer is explained, and asked for again.
 * @param terminal where it is pasted
 * @param expected the state the answer has to carry, and where the browser is sent to
 * @param signal ends the waiting
 * @returns query of the redirect; undefined where the input ends first, or the signal came
 * @see RFC 8252 section 8.10, whose listener is out of reach of a browser on another machine (CL-6)
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
