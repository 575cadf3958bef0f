/** Sequences that terminals obey, whole: with their introducer, parameters and end (ECMA-48, OSC with its text). */
const terminalSequences = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)?/g,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,16}[@-~]?/g,
];

/**
 * Characters that a person does not see and a model or a terminal obeys: controls but tab and line ends, overrides and
 * isolates of direction, characters of no width, tags and the variation selectors that carry hidden text. Joiners and
 * direction marks stay: scripts need them.
 */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

const anyUnseen = new RegExp(unseen.source, 'u');

/** Takes out of a text what a person does not see and a model or a terminal obeys (T-160, T-190). */
export function cleanText(text: string): string {
  if (!anyUnseen.test(text)) return text;
  let clean = text;
  for (const sequence of terminalSequences) clean = clean.replace(sequence, '');
  return clean.replace(unseen, '');
}

/** Whether a name holds what would be taken out of a text, or a line end: two names may look like one. */
export function isUnclean(name: string): boolean {
  return anyUnseen.test(name) || /[\t\r\n]/.test(name);
}
