/**
 * Creates the names under which requests are counted: the first segment of a path we serve, everything else `other`, so
 * that no scan of a stranger makes new series.
 * @param base path of the public URL, empty for none
 * @param served paths we serve, below the base or at the origin
 */
export function createRouteNames(base: string, served: readonly string[]): (path: string) => string {
  const known = new Set(served.map(firstSegment));
  return (path) => {
    const own = base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
    const route = firstSegment(own);
    return known.has(route) ? route : 'other';
  };
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  return end === -1 ? path : path.slice(0, end);
}
