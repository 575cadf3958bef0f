/** Maximum length of foreign text in a message, in characters. */
const maxQuotedLength = 200;

/**
 * Quotes foreign text for a message: ASCII only, and of limited length.
 * @param value anything that a server sent
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
 * Quotes foreign words for a message, in any language: without invisible characters and those that move the
 * cursor, and of limited length. For values that have to be compared byte for byte, use {@link quote}
 * (T-190).
 */
export function quoteWords(words: string): string {
  const cut = words.length > maxQuotedLength ? `${words.slice(0, maxQuotedLength)}...` : words;
  return JSON.stringify(cut.replace(/\s+/gu, ' ').replace(/\p{C}/gu, ''));
}

/** Describes the first difference of two strings that have to be equal. */
export function describeDifference(expected: string, found: string): string {
  let at = 0;
  while (at < expected.length && at < found.length && expected[at] === found[at]) at++;
  const shown = (text: string): string => (at < text.length ? quote(text.charAt(at)) : 'the end');
  return `expected ${quote(expected)}, found ${quote(found)}; they differ at character ${at + 1}: expected ${shown(expected)}, found ${shown(found)}`;
}

/** Quotes a text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
