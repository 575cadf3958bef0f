/**
 * The texts of a catalogue, each with the path to it; a function gives what it makes of the numbers 7, 8, …, a list its
 * entries.
 */
export function flattenTexts(node: unknown, path: readonly string[] = []): [string, string][] {
  if (typeof node === 'function') {
    const values = Array.from({ length: node.length }, (_value, index) => String(index + 7));
    return [[path.join('.'), String(node(...values))]];
  }
  if (typeof node === 'object' && node !== null)
    return Object.entries(node).flatMap(([key, value]) => flattenTexts(value, [...path, key]));
  return [[path.join('.'), String(node)]];
}
