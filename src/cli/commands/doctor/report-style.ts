import type { Verdict, VerifyMeans } from '../../../doctor/index.ts';
import { type Paint, printableLine, type Style } from '../../output.ts';
import { widthOf } from '../../table.ts';

/** Style of a report on this output. */
export interface TextLook {
  paint: Paint;
  /** Columns; longer lines are broken between words. */
  width: number;
  /** Lists every check with what was seen. */
  isVerbose?: boolean | undefined;
  /** Options for the commands that verify a finding. */
  verify?: VerifyMeans;
}

/** A symbol for each verdict, shown with its word, so that neither colour nor symbol has to be known. */
const marks: Readonly<Record<Verdict, { symbol: string; style: Style }>> = {
  pass: { symbol: '✓', style: 'green' },
  fail: { symbol: '✗', style: 'red' },
  warn: { symbol: '!', style: 'yellow' },
  skip: { symbol: '·', style: 'dim' },
  unknown: { symbol: '?', style: 'cyan' },
};

/** Headings of the sections of a report. */
export const headings: Readonly<Record<string, string>> = {
  reach: 'Reach and challenge',
  resource: 'Protected resource metadata',
  issuer: 'Authorization server',
  registration: 'Registration',
  login: 'Login',
  token: 'Tokens',
  machine: 'This machine',
  proxy: 'Proxy in front',
  clients: 'Known clients',
};

/**
 * Breaks a text into lines that start at a column, and makes it safe for the terminal (T-190).
 * @param indent that column
 * @param width of the terminal
 */
export function wrapped(text: string, indent: number, width: number): string {
  const room = Math.max(24, width - indent);
  const lines: string[] = [];
  for (const word of printableLine(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= room)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}

/** Symbol and word of a verdict, padded. */
export function mark(verdict: Verdict, { paint }: TextLook): string {
  const { symbol: sign, style } = marks[verdict];
  return paint(style, `${sign} ${verdict.padEnd(7)}`);
}

/** The symbol of a verdict alone. */
export function symbol(verdict: Verdict, { paint }: TextLook): string {
  const { symbol: sign, style } = marks[verdict];
  return paint(style, sign);
}
