import { type Paint, printableLine } from './output.ts';

/** How a table is written. */
export interface TableOptions {
  /** Longest line, in columns of the terminal; without one, a row is one line. */
  width?: number | undefined;
  /** Paints the heading and the first column. */
  paint: Paint;
}

const gap = '  ';

/** A column is not made narrower than this, unless its cells are. */
const narrowest = 12;

/** Characters that take two columns: East Asian wide ones, and pictographs. */
const wide =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Extended_Pictographic}/u;
const segmenter = new Intl.Segmenter();

/** @returns how many columns of a terminal a text takes */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

function pad(text: string, width: number): string {
  return `${text}${' '.repeat(Math.max(0, width - widthOf(text)))}`;
}

/** Breaks a word that is longer than a line. */
function pieces(word: string, width: number): string[] {
  const found: string[] = [''];
  for (const { segment } of segmenter.segment(word)) {
    const last = found[found.length - 1] ?? '';
    if (last !== '' && widthOf(last + segment) > width) found.push(segment);
    else found[found.length - 1] = last + segment;
  }
  return found;
}

/** Breaks a text into lines of a width, between words where it can be. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ').flatMap((one) => pieces(one, width))) {
    const last = lines[lines.length - 1] ?? '';
    const longer = last === '' ? word : `${last} ${word}`;
    if (last !== '' && widthOf(longer) > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Takes from the widest columns until a line fits. */
function fittedWidths(natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const room = width - gap.length * (widths.length - 1);
  const total = (): number => widths.reduce((sum, one) => sum + one, 0);
  while (total() > room) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= narrowest) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/**
 * Writes rows as a table for a terminal: cells stripped of what a terminal could act on, columns as wide as they need
 * and fitted to the width, long cells over several lines (T-190).
 * @param heading names of the columns
 * @param rows cells
 * @param options width and colours
 */
export function formatFittedTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { width, paint }: TableOptions,
): string {
  const cells = [heading, ...rows].map((row) => row.map(printableLine));
  const natural = heading.map((_name, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ''))));
  const widths = width === undefined ? natural : fittedWidths(natural, width);
  const lines = cells.flatMap((row, number) => {
    const wrapped = row.map((cell, at) => wrap(cell, width === undefined ? Infinity : (widths[at] ?? 1)));
    const height = Math.max(...wrapped.map(({ length }) => length));
    return Array.from({ length: height }, (_nothing, line) => {
      const parts = wrapped.map((cell, at) => pad(cell[line] ?? '', widths[at] ?? 0));
      while (parts.length > 1 && parts[parts.length - 1]?.trim() === '') parts.pop();
      parts.push((parts.pop() ?? '').trimEnd());
      if (number === 0) return paint('dim', parts.join(gap));
      return [paint('cyan', parts[0] ?? ''), ...parts.slice(1)].join(gap).trimEnd();
    });
  });
  return `${lines.join('\n')}\n`;
}
