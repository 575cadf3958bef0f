/** Most of a text that is shown, in characters. */
const maxShown = 200;

/**
 * Says what differs between two definitions of a tool: each member, with the text it has now.
 * @param before JSON, or undefined where it was too long to keep; so is `now`
 */
export function changedMembers(before: string | undefined, now: string | undefined): string[] {
  if (before === undefined || now === undefined) return ['too long to compare'];
  const [old, next] = [before, now].map((text) => JSON.parse(text) as Record<string, unknown>);
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(next ?? {})]);
  return [...names]
    .filter((name) => JSON.stringify(old?.[name]) !== JSON.stringify(next?.[name]))
    .map((name) => `${name}: ${shown(next?.[name])}`);
}

function shown(value: unknown): string {
  if (value === undefined) return '(gone)';
  const text = JSON.stringify(value).replace(/\p{C}/gu, '\u{fffd}');
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}
