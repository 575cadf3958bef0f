/**
 * Creates the hierarchy of scopes (A8-05).
 * @param implies scope -> scopes it includes, which may include further ones
 * @returns a function from granted scopes to all scopes they include, the granted ones first; it returns the same list
 *   if nothing is added
 */
export function createScopeHierarchy(
  implies: Readonly<Record<string, readonly string[]>>,
): (granted: readonly string[]) => readonly string[] {
  const included = new Map(Object.entries(implies));
  if (included.size === 0) return (granted) => granted;
  return (granted) => {
    const held = new Set(granted);
    // A set that grows while it is walked is walked to its end, circles included.
    for (const scope of held) for (const further of included.get(scope) ?? []) held.add(further);
    return held.size === new Set(granted).size ? granted : [...held];
  };
}
