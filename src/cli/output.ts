import type { Readable } from 'node:stream';
import type { Fetch } from '../client/index.ts';

/** Where a text goes: standard output or error, or what a test collects. */
export interface TextSink {
  write(text: string): unknown;
  /** Whether a person reads it on a terminal. */
  isTTY?: boolean;
  /** Width of that terminal, in characters. */
  columns?: number;
}

/** What a command touches outside itself. */
export interface CommandIo {
  stdin: Readable;
  stdout: TextSink;
  stderr: TextSink;
  env: Readonly<Record<string, string | undefined>>;
  fetch: Fetch;
  /** Epoch seconds. */
  now: () => number;
}

/** @returns the surroundings of the running process */
export function processIo(): CommandIo {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    fetch: globalThis.fetch,
    now: () => Math.floor(Date.now() / 1000),
  };
}

/** ECMA-48 sequences: operating system commands (hyperlinks, titles) with their text, control sequences, two-character escapes. */
const escapeSequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out here
  /(?:\x1B[\]PX^_]|[\x9D\x90\x98\x9E\x9F])[^\x07\x1B\x9C]*(?:\x07|\x1B\\|\x9C|$)|(?:\x1B\[|\x9B)[0-?]*[ -/]*[@-~]?|\x1B[ -/]*[0-~]?/g;

/** Controls but tab and line feed, and characters that are invisible or turn the direction of text. */
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out here
  /[\x00-\x08\x0B-\x1F\x7F-\x9F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/gu;

/**
 * Makes a text of others fit for a terminal: no escape sequences, no control characters but tab and line feed,
 * nothing that hides or turns text (T-190).
 * @param text what a server sent
 */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(escapeSequences, '').replace(invisible, '');
}

/**
 * The same for a cell or a sentence: one line, white space folded.
 * @param text what a server sent
 */
export function printableLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/**
 * One JSON document for standard output; characters a terminal could act on are written as `\u` escapes (T-190).
 * @param value what can be written as JSON
 */
export function formatJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  const escaped = text.replace(
    /[\x7F-\x9F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|\uDB40[\uDC00-\uDC7F]/g,
    (found) => {
      const units = found.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
      return units.map((unit) => `\\u${unit}`).join('');
    },
  );
  return `${escaped}\n`;
}

/**
 * A table with aligned columns; the last column is left as long as it is.
 * @param rows cells, the first row being the heading
 */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>((found, row) => {
    row.forEach((cell, at) => {
      found[at] = Math.max(found[at] ?? 0, cell.length);
    });
    return found;
  }, []);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

/** SGR parameters that begin and end a style (ECMA-48 section 8.3.117). */
const styles = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** What a text can look like on a terminal. */
export type Style = keyof typeof styles;

/** Puts a text in a style, or leaves it as it is. The text has to be fit for a terminal already. */
export type Paint = (style: Style, text: string) => string;

/**
 * Says how to paint for an output: on a terminal only, unless the environment says otherwise.
 * @param sink where the text goes
 * @param env `FORCE_COLOR` paints everywhere, `NO_COLOR` nowhere; the first goes before the second
 * @see https://no-color.org, https://force-color.org
 */
export function createPaint(sink: TextSink, env: Readonly<Record<string, string | undefined>>): Paint {
  const { FORCE_COLOR: force = '', NO_COLOR: no = '', TERM: term } = env;
  const forced = force === '' ? undefined : force !== '0' && force !== 'false';
  const isPainted = forced ?? (no === '' && term !== 'dumb' && sink.isTTY === true);
  return (style, text) => {
    if (!isPainted || text === '') return text;
    const [begin, end] = styles[style];
    return `\u001b[${begin}m${text}\u001b[${end}m`;
  };
}

/**
 * Whether a stream of a command is a terminal, with a person at it.
 * @param stream standard input, output or error, or what stands for it
 */
export function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}
