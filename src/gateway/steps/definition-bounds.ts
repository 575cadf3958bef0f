/** Longest definition of a tool, prompt, resource or template that is read, in characters of all its names and texts. */
export const maxDefinitionLength = 262_144;

/** Deepest nesting of a definition that is read. */
export const maxDefinitionDepth = 64;

/** Longest instructions of one server that are read, in characters. */
export const maxInstructionsLength = 65_536;

/** Cost of a value beside its text: many empty values take time, too. */
const perValue = 8;

/**
 * Returns whether a value of JSON is longer or deeper than a definition may be. It stops at the bound and does not recurse.
 */
export function isTooLarge(value: unknown): boolean {
  let left = maxDefinitionLength;
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: one, depth } = next;
    left -= perValue + (typeof one === 'string' ? one.length : 0);
    if (left < 0 || depth > maxDefinitionDepth) return true;
    if (typeof one !== 'object' || one === null) continue;
    const members: unknown[] = Array.isArray(one) ? one : Object.values(one);
    if (members.length * perValue > left) return true;
    if (!Array.isArray(one)) for (const key of Object.keys(one)) left -= key.length;
    for (const member of members) open.push({ value: member, depth: depth + 1 });
  }
  return left < 0;
}
