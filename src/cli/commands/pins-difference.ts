/** Most of a text that is shown, in characters. */
const maxShown = 200;

/**
 * Says what differs between two definitions: each member, with the text it has now.
 * @param before JSON, or undefined where it was too long to keep; so is `now`
 */
export function changedMembers(before: string | undefined, now: string | undefined): string[] {
  if (before === undefined || now === undefined) return ['too long to compare'];
  const [old, next] = [before, now].map((text) => JSON.parse(text) as Record<string, unknown>);
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(next ?? {})]);
  return [...names]
    .filter((name) => JSON.stringify(old?.[name]) !== JSON.stringify(next?.[name]))
    .map((name) => `${name}: ${shown(old?.[name], next?.[name])}`);
}

/** So much of what is as it was stands before a change that is shown. */
const shownBefore = 20;

/** A change may stand behind much that is as it was: it is shown from where it begins, and says how much is left out. */
function shown(old: unknown, value: unknown): string {
  if (value === undefined) return '(gone)';
  const [before = '', text] = [JSON.stringify(old), JSON.stringify(value)];
  let same = 0;
  while (same < text.length && text[same] === before[same]) same++;
  const from = same > maxShown - shownBefore ? same - shownBefore : 0;
  const part = text.slice(from, from + maxShown).replace(/\p{C}/gu, '\u{fffd}');
  const left = text.length - from - maxShown;
  return `${from > 0 ? '…' : ''}${part}${left > 0 ? `… (${left} more characters: --json)` : ''}`;
}
