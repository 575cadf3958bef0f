/** Rounds of decoding that are looked through: a server may decode more than once. */
const maxRounds = 4;

const dotSegment = /(^|[/\\:])\.{1,2}($|[/\\?#])/;

/**
 * Gives the ways in which a server may read a URI: as it stands, decoded, written as URLs are, without doubled slashes,
 * without user and port. Of one that {@link leadsElsewhere} they are not all.
 * @returns the first is the URI itself
 */
export function uriSpellings(uri: string): string[] {
  const spellings = new Set([uri, ...decodingsOf(uri)]);
  for (const spelling of [...spellings])
    for (const href of readingsOf(spelling))
      spellings
        .add(href)
        .add(href.replace(/([^:/])\/{2,}/g, '$1/'))
        .add(href.replace(/(:\/{2,3})\/+/, '$1'));
  return [...spellings];
}

/** Says whether a URI has `.` or `..` as a segment, maybe encoded, and so leads elsewhere than it says. */
export function leadsElsewhere(uri: string): boolean {
  for (const spelling of decodingsOf(uri)) if (dotSegment.test(spelling)) return true;
  return false;
}

/**
 * Gives where a URI may lead, however a server decodes it: dot segments followed, as in URLs and as in paths that begin with
 * the host, no slash doubled, the host alone looked at.
 * @returns URIs as {@link hrefOf} writes them; one for a URI that is written as URLs are, and names no user or port
 */
export function uriTargets(uri: string): string[] {
  const targets = new Set<string>();
  for (const spelling of decodingsOf(uri))
    for (const reading of [spelling, ...followedAsPath(spelling)])
      for (const href of readingsOf(reading)) targets.add(href).add(hrefOf(href, toSingleSlashes));
  return [...targets];
}

/**
 * Where dot segments lead if what stands behind the scheme is a path: from `notes://public/../secret` to `notes://secret`.
 * Some take `?` and `#` for parts of it, and some a doubled slash for one.
 */
function followedAsPath(uri: string): string[] {
  return [...new Set([keyedUri(uri), wholeUri(uri)].flatMap(({ own, key }) => followedIn(own).map(key)))];
}

function followedIn(uri: string): string[] {
  const [, scheme = '', path = '', rest = ''] = /^([^:/\\?#]+:[/\\]*)([^?#]*)(.*)$/s.exec(uri) ?? [];
  if (!dotSegment.test(path + rest)) return [];
  return [path, path + rest].flatMap((read) => {
    const segments = read.split(/[/\\]/);
    const behind = read === path ? rest : '';
    const filled = segments.filter((segment) => segment !== '');
    return [segments, filled].map((some) => scheme + followed(some).join('/') + behind);
  });
}

function followed(segments: readonly string[]): string[] {
  const path: string[] = [];
  for (const segment of segments)
    if (segment === '..') path.pop();
    else if (segment !== '.') path.push(segment);
  return path;
}

/**
 * Writes a URI as URLs are. Where several backends are one, the key of each stays where it stands.
 * @param change is made to the URL before it is written
 */
export function hrefOf(uri: string, change?: (url: URL) => void): string {
  const { key, own } = keyedUri(uri);
  const url = URL.parse(own);
  if (url === null) return uri;
  change?.(url);
  return key(url.href);
}

interface KeyedUri {
  own: string;
  /** Puts what was taken off before another URI. */
  key: (own: string) => string;
}

/** A URI of which nothing is a key, as where there is one server. */
const wholeUri = (uri: string): KeyedUri => ({ own: uri, key: (own) => own });

/**
 * Takes the key of one of several backends off a URI: `files+file:///x` and `ui://files+x` are `file:///x` and `ui://x`.
 */
function keyedUri(uri: string): KeyedUri {
  const [, ui = '', key = '', rest = ''] = /^(ui:\/\/)?([a-z][a-z0-9-]*\+)(.*)$/s.exec(uri) ?? [];
  if (key === '') return wholeUri(uri);
  return { own: ui + rest, key: (own) => ui + key + own.slice(ui.length) };
}

function toSingleSlashes(url: URL): void {
  if (url.pathname.includes('//')) url.pathname = url.pathname.replace(/\/{2,}/g, '/');
}

/** A URI as URLs are written, and what a server sees of it that looks at the host alone: most often the same. */
function readingsOf(uri: string): Set<string> {
  return new Set([hrefOf(uri), hrefOf(uri, toHostAlone), ...hostAloneOfApp(uri)]);
}

/** What looks like a key in a URI of an app is a part of its user, where there is one server. */
function hostAloneOfApp(uri: string): string[] {
  const url = uri.startsWith('ui://') ? URL.parse(uri) : null;
  if (url === null || !url.username.includes('+')) return [];
  toHostAlone(url);
  return [url.href];
}

/** Schemes of which every server knows that a port is another server. */
const schemesWithPorts: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:']);

/** What is left for a server that looks at the host alone: `notes://user@secret:80/` is `notes://secret/` to it. */
function toHostAlone(url: URL): void {
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  if (url.port !== '' && !schemesWithPorts.has(url.protocol)) url.port = '';
}

/** Tabs and line ends are none to whoever parses URLs. */
function decodingsOf(uri: string): Set<string> {
  const decodings = new Set<string>();
  let current = uri.replace(/[\t\r\n]/g, '').trim();
  for (let round = 0; round < maxRounds && !decodings.has(current); round++) {
    decodings.add(current);
    if (!current.includes('%')) break;
    current = decoded(current);
  }
  return decodings;
}

/** Bytes that are no UTF-8 stay; those of ASCII are decoded whatever stands beside them. */
function decoded(uri: string): string {
  return uri
    .replace(/%[0-7][0-9a-f]/gi, (byte) => String.fromCharCode(Number.parseInt(byte.slice(1), 16)))
    .replace(/(?:%[89a-f][0-9a-f])+/gi, (bytes) => {
      try {
        return decodeURIComponent(bytes);
      } catch {
        return bytes;
      }
    });
}
