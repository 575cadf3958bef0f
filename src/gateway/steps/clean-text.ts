/** Sequences that terminals obey, whole: with their introducer, parameters and end (ECMA-48, OSC with its text). */
const terminalSequences = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)?/g,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,16}[@-~]?/g,
];

/**
 * Characters that a person does not see and a model or a terminal obeys: controls but tab and line ends, overrides and
 * isolates of direction, characters of no width, empty letters, tags, and variation selectors of the supplement. Joiners,
 * direction marks and other variation selectors stay, as scripts need them; but not in rows, nor between letters of ASCII.
 */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0f]{2,}|[\u061c\u200c-\u200f]{3,}|(?<=[A-Za-z\d])(?:[\u200c\u200d]|[\ufe00-\ufe0f])+(?=[A-Za-z\d])/gu;

const anyUnseen = new RegExp(unseen.source, 'u');

/** A joiner, direction mark or variation selector that no script needs: at an end, or between characters of ASCII. */
const needless =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them.
  /(?:^|[\u0000-\u007f])(?:[\u061c\u200c-\u200f]|[\ufe00-\ufe0f])+(?:$|[\u0000-\u007f])/u;

/** Takes out of a text what a person does not see and a model or a terminal obeys (T-160, T-190). */
export function cleanText(text: string): string {
  if (!anyUnseen.test(text)) return text;
  let clean = text;
  for (const sequence of terminalSequences) clean = clean.replace(sequence, '');
  return clean.replace(unseen, '');
}

/** Returns whether a value, which may not be cleaned, holds what nobody sees: two values may look like one. */
export function hasUnseen(value: string): boolean {
  return anyUnseen.test(value) || needless.test(value);
}

/** Returns whether a name holds what nobody sees, or a line end: two names may look like one. */
export function isUnclean(name: string): boolean {
  return hasUnseen(name) || /[\t\r\n\u2028\u2029]/.test(name);
}
