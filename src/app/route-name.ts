/**
 * Creates the names under which requests are counted: the whole path of an MCP server, the first segment of another path
 * we serve, everything else `other`, so that no scan of a stranger makes new series.
 * @param base path of the public URL, empty for none
 * @param served paths we serve, below the base or at the origin
 * @param isServerPath whether an MCP server is at a path below the base
 */
export function createRouteNames(
  base: string,
  served: readonly string[],
  isServerPath: (path: string) => boolean,
): (path: string) => string {
  const known = new Set(served.map(firstSegment));
  return (path) => {
    const own = base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
    const bare = own.endsWith('/') ? own.slice(0, -1) : own;
    if (isServerPath(bare)) return bare;
    const route = firstSegment(own);
    return known.has(route) ? route : 'other';
  };
}

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  return end === -1 ? path : path.slice(0, end);
}
