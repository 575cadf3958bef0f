/** Longest foreign text put into a message, in characters. */
const maxQuotedLength = 200;

/**
 * A foreign text inside a message: in quotes, ASCII only, cut to a length one can read.
 * @param value anything a server sent
 */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  const cut = text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength)}...` : text;
  return JSON.stringify(cut).replace(
    /[^\x20-\x7E]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Foreign words inside a message: as they are written, in quotes, without characters that cannot be seen or that move the
 * cursor, cut to a length one can read. Not for what has to be compared, which {@link quote} shows byte for byte.
 * @param words for people, in any language (T-190)
 */
export function quoteWords(words: string): string {
  const cut = words.length > maxQuotedLength ? `${words.slice(0, maxQuotedLength)}...` : words;
  return JSON.stringify(cut.replace(/\s+/gu, ' ').replace(/\p{C}/gu, ''));
}

/**
 * Says where two strings that must be equal differ, byte for byte.
 * @param expected what was asked for
 * @param found what came
 */
export function describeDifference(expected: string, found: string): string {
  let at = 0;
  while (at < expected.length && at < found.length && expected[at] === found[at]) at++;
  const shown = (text: string): string => (at < text.length ? quote(text.charAt(at)) : 'the end');
  return `expected ${quote(expected)}, found ${quote(found)}; they differ at character ${at + 1}: expected ${shown(expected)}, found ${shown(found)}`;
}
