import type { Readable } from 'node:stream';
import type { Fetch } from '../client/index.ts';
import { unmarkedJson } from '../collections/exact-json.ts';

/** The command that a person types: a script of the checkout, or the published package. */
export const programName = import.meta.url.endsWith('.ts') ? 'scripts/gatehouse' : 'npx mcp-gatehouse';

/** An output: standard output or error, or a collector of a test. */
export interface TextSink {
  write(text: string): unknown;
  /** True for a terminal. */
  isTTY?: boolean;
  /** Width of that terminal, in characters. */
  columns?: number;
}

/** Everything outside itself that a command uses: streams, environment, network and clock. */
export interface CommandIo {
  stdin: Readable;
  stdout: TextSink;
  stderr: TextSink;
  env: Readonly<Record<string, string | undefined>>;
  fetch: Fetch;
  /** Epoch seconds. */
  now: () => number;
}

/** Returns the streams, environment, fetch and clock of this process. */
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
 * Makes a foreign text safe for a terminal: no escape sequences, no control characters but tab and line feed,
 * nothing that hides or reverses text (T-190).
 * @param text what a server sent
 */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(escapeSequences, '').replace(invisible, '');
}

/**
 * Makes a foreign text safe for a cell or a sentence: one line, with white space folded.
 * @param text what a server sent
 */
export function printableLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** Formats JSON as one line of ASCII, so that a terminal can execute nothing in it (T-190). */
export function jsonLine(value: unknown): string {
  const ascii = JSON.stringify(value).replace(
    /[^\x20-\x7E]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${ascii}\n`;
}

/**
 * Formats a JSON document for standard output; control and invisible characters become `\u` escapes (T-190).
 * @param value a JSON value
 */
export function formatJson(value: unknown): string {
  const text = unmarkedJson(JSON.stringify(value, null, 2));
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
 * Formats a table with aligned columns; the last column is not padded.
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

/** A text style on a terminal. */
export type Style = keyof typeof styles;

/** Adds a style to a text, or returns it unchanged. The text must be safe for a terminal already. */
export type Paint = (style: Style, text: string) => string;

/**
 * Returns the painter of an output: it paints on a terminal only, unless the environment says otherwise.
 * @param sink the output
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
 * Checks if a stream of a command is a terminal.
 * @param stream standard input, output or error, or a replacement
 */
export function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}
