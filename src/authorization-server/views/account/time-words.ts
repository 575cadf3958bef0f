import type { Texts } from '../../texts/texts.ts';

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
