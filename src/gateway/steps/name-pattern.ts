/**
 * Reads patterns of names, in which `*` stands for any characters. A name is matched in one pass, however the pattern
 * was chosen.
 * @returns whether a name fits one of them
 */
export function namePatterns(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  // Most patterns are whole names: however many there are, they cost one look-up.
  const names = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const matchers = patterns.filter((pattern) => pattern.includes('*')).map(matcher);
  return (name) => names.has(name) || matchers.some((matches) => matches(name));
}

function matcher(pattern: string): (name: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop() ?? '';
  return (name) => {
    if (!name.startsWith(start) || !name.endsWith(end)) return false;
    let at = start.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at + end.length <= name.length;
  };
}
