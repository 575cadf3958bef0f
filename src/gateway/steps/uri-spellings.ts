/** Rounds of decoding that are looked through: a server may decode more than once. */
const maxRounds = 4;

const dotSegment = /(^|[/\\])\.{1,2}($|[/\\?#])/;

/**
 * Gives the ways in which a server may read a URI: as it stands, decoded, written as URLs are, without doubled slashes.
 * @returns the first is the URI itself; none where it has `.` or `..` as a segment, and so leads elsewhere than it says
 */
export function uriSpellings(uri: string): string[] {
  const spellings = new Set<string>();
  let current = uri;
  for (let round = 0; round < maxRounds && !spellings.has(current); round++) {
    if (dotSegment.test(current)) return [];
    spellings.add(current);
    current = decoded(current);
  }
  for (const spelling of [...spellings]) {
    // Where several backends are one, the key of each stands before its URIs.
    const [key = ''] = /^[a-z][a-z0-9-]*\+/.exec(spelling) ?? [];
    const href = key + (URL.parse(spelling.slice(key.length))?.href ?? spelling.slice(key.length));
    spellings
      .add(href)
      .add(href.replace(/([^:/])\/{2,}/g, '$1/'))
      .add(href.replace(/(:\/{2,3})\/+/, '$1'));
  }
  return [...spellings];
}

function decoded(uri: string): string {
  return uri.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes;
    }
  });
}
