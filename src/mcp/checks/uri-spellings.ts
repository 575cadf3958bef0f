/** Rounds of decoding that are looked through: a server may decode more than once. */
const maxRounds = 4;

const dotSegment = /(^|[/\\])\.{1,2}($|[/\\?#])/;

/**
 * Gives the ways in which a server may read a URI: as it stands, decoded, written as URLs are, without doubled slashes. Of
 * one that {@link leadsElsewhere} they are not all.
 * @returns the first is the URI itself
 */
export function uriSpellings(uri: string): string[] {
  const spellings = decodingsOf(uri);
  for (const spelling of [...spellings]) {
    const href = hrefOf(spelling);
    spellings
      .add(href)
      .add(href.replace(/([^:/])\/{2,}/g, '$1/'))
      .add(href.replace(/(:\/{2,3})\/+/, '$1'));
  }
  return [...spellings];
}

/** Says whether a URI has `.` or `..` as a segment, maybe encoded, and so leads elsewhere than it says. */
export function leadsElsewhere(uri: string): boolean {
  for (const spelling of decodingsOf(uri)) if (dotSegment.test(spelling)) return true;
  return false;
}

/**
 * Writes a URI as URLs are. Where several backends are one, the key of each stands before its URIs (`files+file:///x`), and
 * stays.
 */
export function hrefOf(uri: string): string {
  const [key = ''] = /^[a-z][a-z0-9-]*\+/.exec(uri) ?? [];
  const own = uri.slice(key.length);
  return key + (URL.parse(own)?.href ?? own);
}

function decodingsOf(uri: string): Set<string> {
  const decodings = new Set<string>();
  let current = uri;
  for (let round = 0; round < maxRounds && !decodings.has(current); round++) {
    decodings.add(current);
    current = decoded(current);
  }
  return decodings;
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
