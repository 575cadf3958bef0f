import type { Texts } from '../texts/texts.ts';

/** Longest text shown for a name, in characters (code points), the ellipsis included (T-060). */
export const maxDisplayCharacters = 100;

/** Marks kept on one base letter: enough for pointed Hebrew, vocalised Arabic and Thai. */
const maxMarksPerLetter = 3;

const blanks = /[\t\n\v\f\r\u0085\u2800\p{Z}]+/gu;
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
const strayMarks = /(^| )\p{M}+/gu;
const floodedMarks = new RegExp(`(\\p{M}{${maxMarksPerLetter}})\\p{M}+`, 'gu');

/**
 * Makes text from outside inert and readable: one line, composed (NFC), without control, bidi, zero-width and
 * other invisible characters, with at most three combining marks in a row, cut to a length (T-059, T-060).
 * It does not escape HTML: the template does that.
 * @param text text chosen by a client, an account or a configuration
 * @param maxCharacters longest result, in code points, the ellipsis of a cut included
 * @returns the readable text; empty when nothing visible is left
 */
export function displayText(text: string, maxCharacters = maxDisplayCharacters): string {
  const visible = text
    .replace(blanks, ' ')
    .replace(invisible, '')
    .normalize('NFC')
    .replace(strayMarks, '$1')
    .replace(floodedMarks, '$1')
    .replace(/ {2,}/g, ' ')
    .trim();
  const characters = [...visible];
  if (characters.length <= maxCharacters) return visible;
  return `${characters
    .slice(0, maxCharacters - 1)
    .join('')
    .trimEnd()}…`;
}

/**
 * A time in the words of a page's language, in UTC: pages have no script that would know where the person is.
 * @param seconds epoch seconds
 */
export function timeWords(texts: Texts, seconds: number): string {
  const format = new Intl.DateTimeFormat(texts.language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${format.format(seconds * 1000)} UTC`;
}
