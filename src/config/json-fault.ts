/** What the engine says of a character nothing can begin with: it repeats the text around it. */
const unexpected = /^Unexpected token '?([\s\S]+?)'?, (\.{3})?"([\s\S]*)"(?:\.{3})? is not valid JSON$/;

/** How much stands before the character in what is repeated, where that begins in the middle of the text. */
const before = 10;

/**
 * Says why a text is no JSON, and where, without repeating what stands there: it may be a secret (T-194).
 * @param text what was parsed
 * @param error what `JSON.parse` threw
 */
export function describeJsonFault(text: string, { message }: Error): string {
  const at = /at position (\d+)/.exec(message)?.[1];
  if (at !== undefined)
    return `${message.replace(/ in JSON at position.*$/s, '')}, ${placeOf(text, Number(at))}`;
  if (message === 'Unexpected end of JSON input') return 'it ends too early';
  const [, token = '', cut, shown = ''] = unexpected.exec(message) ?? [];
  const begin = text.indexOf(shown);
  if (shown === '' || begin !== text.lastIndexOf(shown)) return 'it holds something that is none';
  const fault = cut ? begin + before : text.indexOf(token, begin);
  return `Unexpected ${JSON.stringify(token)}, ${placeOf(text, fault)}`;
}

function placeOf(text: string, position: number): string {
  return `line ${text.slice(0, position).split('\n').length}`;
}
