import { isUtf8 } from 'node:buffer';
import { domainToUnicode } from 'node:url';

/** Rounds of decoding that are looked through: a server may decode more than once. */
const maxRounds = 4;

/** Longest URI that a guard reads, in characters. */
const maxUriLength = 8192;

/** Maximum length of all readings of one URI together, in characters. */
const maxCharacters = 16_384;

/** Cost of one reading beside its length, in characters. */
const perReading = 100;

/**
 * Most characters that the readings of all URIs have together, of a message and of a list. A plain URI counts an eighth of its
 * length.
 */
const maxCharactersOf = { message: 250_000, list: 500_000 };

/** Ways in which servers may read one URI. */
export interface UriReading {
  /** The URI as URLs are written. */
  href: string;
  /**
   * Everything that a server may take the URI for, folded: `note:secret/b/` for `note://SECRET//b`. The text ends with a
   * slash before its query or end.
   */
  folded: readonly string[];
  /** True if it has `.` or `..` as a segment, maybe encoded, and so leads elsewhere than it says. */
  leadsElsewhere: boolean;
}

/** Reads the URIs of one message or list, and stops reading when that costs too much. */
export type UriReader = (uri: string) => UriReading | undefined;

/**
 * Creates the reader of the URIs of one message or list.
 * @returns a function from a URI to its readings, or undefined for a URI that cannot be read within the bounds: a guard
 *   refuses it
 */
export function createUriReader(of: keyof typeof maxCharactersOf): UriReader {
  let left = maxCharactersOf[of];
  return (uri) => {
    if (left < 0) return undefined;
    const { reading, characters } = plainReading(uri) ?? recentReading(uri);
    left -= characters;
    return reading;
  };
}

interface Read {
  reading: UriReading | undefined;
  /** Cost of the reading, in characters. */
  characters: number;
}

/**
 * Host, segments and query of a URI that all servers read alike. Blanks, dots and escapes that mean nothing in URLs stand only
 * within segments. Each part says by its first character what it is, so that nothing is tried twice.
 */
const plain =
  /^[a-z][a-z0-9+-]+:\/{0,3}(?:[\w~*{}+-]+(?:(?:[. ]|%(?:2[01467-9B-Db-d]|3D|5[BDF]|7[BDE]))+[\w~!$&'()*+,={}-]+)*|(?<=^file:\/\/\/)[A-Za-z]:)(?:\/[\w~:@!$&'()*+,={}-]+(?:(?:[. ]|%(?:2[01467-9B-Db-d]|3D|5[BDF]|7[BDE]))+[\w~:@!$&'()*+,={}-]+)*)*\/?(?:[?#][\w~:!$&'()*+,={}?.-]*)?$/;

/** A file at a host, which some servers leave out. */
const fileOfHost = /^(?:[a-z][a-z0-9-]*\+)?file:\/\/[^/]/;

function plainReading(uri: string): Read | undefined {
  if (uri.length > maxUriLength || !plain.test(uri) || uri.includes('xn--') || fileOfHost.test(uri))
    return undefined;
  const colon = uri.indexOf(':');
  let from = colon + 1;
  while (uri[from] === '/') from++;
  const query = uri.search(/[?#]/);
  const path = query === -1 ? uri.slice(from) : uri.slice(from, query);
  const rest = query === -1 ? '' : uri.slice(query);
  const slash = path.indexOf('/');
  const host = slash === -1 ? path : path.slice(0, slash);
  const behind = slash === -1 ? '' : path.slice(slash);
  const folded = `${uri.slice(0, colon + 1)}${host.toLowerCase()}${behind}${behind.endsWith('/') ? '' : '/'}${rest}`;
  const reading: UriReading = {
    href: writtenAsIs.test(uri) ? uri : hrefOf(uri),
    folded: plainFolds(folded),
    leadsElsewhere: false,
  };
  return { reading, characters: 10 + (uri.length >> 3) };
}

/** The folds of a plain URI: as it is, decoded, and for servers that leave out blanks. */
function plainFolds(folded: string): string[] {
  const folds = folded.includes('%') ? [folded, decodeURIComponent(folded)] : [folded];
  const last = folds.at(-1) as string;
  return last.includes(' ') ? [...folds, last.replaceAll(' ', '')] : folds;
}

/** Of a plain URI: it is written as URLs are, as nothing is known of its scheme. */
const writtenAsIs = /^(?!https?:|wss?:|ftp:|file:)[a-z][a-z0-9-]*:[^{} ]*$/;

/** Maximum number of cached readings: a batch has no more messages, and each guard reads all of them in turn. */
const maxRecent = 128;
const recent = new Map<string, Read>();

function recentReading(uri: string): Read {
  const known = recent.get(uri);
  if (known) return known;
  const read = readOf(uri);
  recent.set(uri, read);
  const [oldest] = recent.keys();
  if (recent.size > maxRecent && oldest !== undefined) recent.delete(oldest);
  return read;
}

function readOf(uri: string): Read {
  if (uri.length > maxUriLength) return { reading: undefined, characters: 0 };
  const folds = foldsOf(uri);
  const { texts, leadsElsewhere, characters } = folds;
  if (!folds.isWhole) return { reading: undefined, characters };
  return { reading: { href: hrefOf(uri), folded: [...texts.keys()], leadsElsewhere }, characters };
}

/**
 * Folds the beginning of URIs that a rule names, as {@link UriReading.folded} has them.
 * @returns each spelling of the beginning, without a slash at its end that the rule does not have
 */
export function foldedBeginnings(beginning: string): string[] {
  // With something behind it: a dot is left out at the end of a segment, and stays within one.
  const longer = `${beginning}${something}`;
  const folded = [longer, hrefOf(longer)].flatMap((uri) => wholeTexts(uri, 'as written'));
  return [...new Set(folded.map((text) => withoutEnd(withoutEnd(text, '/'), something)))];
}

/**
 * Folds a pattern of URIs, in which `*` matches any characters.
 * @param extent `as written`, or `with less`: the latter adds the spellings of servers that compare the host alone
 */
export function foldedPatterns(pattern: string, extent: 'as written' | 'with less'): string[] {
  const folded = [pattern, hrefOf(pattern)].flatMap((uri) => wholeTexts(uri, extent));
  return [...new Set(folded.map((text) => (pattern.endsWith('*') ? text.replace(/\*\/$/, '*') : text)))];
}

const something = 'x9q7x';

function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}

function wholeTexts(uri: string, extent: 'as written' | 'with less'): string[] {
  const { texts } = foldsOf(uri, Number.POSITIVE_INFINITY);
  return [...texts].filter(([, isLess]) => extent === 'with less' || !isLess).map(([text]) => text);
}

interface Folds {
  /** Folded text -> whether it leaves out the user or port of the URI. */
  texts: Map<string, boolean>;
  leadsElsewhere: boolean;
  characters: number;
  /** True if all readings are there. */
  isWhole: boolean;
}

/** @param most characters that are read */
function foldsOf(uri: string, most = maxCharacters): Folds {
  const folds: Folds = { texts: new Map(), leadsElsewhere: false, characters: 0, isWhole: false };
  let current = uri.toWellFormed();
  for (let round = 0; round < maxRounds; round++) {
    const visible = current.replace(invisible, '').trim();
    const isAscii = asciiOnly.test(visible);
    folds.characters += isAscii ? 0 : visible.length * 2;
    if (folds.characters > most) return folds;
    const composed = isAscii ? visible : visible.normalize('NFKC').replaceAll('\u3002', '.');
    const texts = new Set([composed, visible]);
    if (/\s/.test(composed)) texts.add(composed.replace(/\s+/g, ''));
    for (const text of texts) if (!addFolds(text, folds, most)) return folds;
    const next = decoded(composed);
    if (next === composed) return { ...folds, isWhole: true };
    current = next;
  }
  return folds;
}

const asciiOnly = /^\p{ASCII}*$/u;

/** Characters that nobody sees, and that parsers of URLs leave out in part. */
const invisible = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Dot segments, also for servers that leave out blanks and path parameters. */
const dotSegment = /(?:^|[/\\])\s*\.{1,2}\s*(?:$|[/\\;?#])/;

interface Parts {
  /** In lower case, with its colon; `''` if there is none. */
  scheme: string;
  path: string;
  /** Query and fragment. */
  rest: string;
}

function partsOf(uri: string): Parts {
  const [, scheme = '', path = '', rest = ''] = /^([^:/\\?#]*:)?([^?#]*)(.*)$/s.exec(uri) ?? [];
  return { scheme: scheme.toLowerCase().replace(/\s/g, ''), path, rest };
}

/** @returns false if there is more to read than may be read */
function addFolds(text: string, folds: Folds, most: number): boolean {
  for (const [at, parts] of carelessly(partsOf(text)).entries()) {
    const isLess = at > 0;
    for (const [segments, rest] of waysOf(parts, folds)) {
      folds.characters += text.length + perReading;
      if (folds.characters > most) return false;
      addFold(parts, segments, rest, isLess, folds.texts);
    }
  }
  return true;
}

/** A URI as it stands first, then as servers read it that take a URI apart by themselves. */
function carelessly(parts: Parts): Parts[] {
  const { path, rest } = parts;
  const texts = rest.includes('@') ? [path, path + rest] : [path];
  return [parts, ...texts.flatMap((text) => withoutUser(parts.scheme, text)), ...fileAt(parts)];
}

/** `note://pub\@secret` is a path to some, and to others a user `pub\` at the host `secret`. */
function withoutUser(scheme: string, text: string): Parts[] {
  const [, slashes = '', user = '', behind = ''] = /^(\/+)([^/]*@)(.*)$/s.exec(text) ?? [];
  return /[\\;?#]/.test(user) ? [{ ...partsOf(slashes + behind), scheme }] : [];
}

/** Some servers take a path for the URI of a file: `/srv/a`, `C:\srv`. */
function fileAt({ scheme, path, rest }: Parts): Parts[] {
  if (scheme === '' && /^[/\\]/.test(path)) return [{ scheme: 'file:', path: `//${path}`, rest }];
  return /^[a-z]:$/.test(scheme) ? [{ scheme: 'file:', path: `///${scheme}/${path}`, rest }] : [];
}

/** The ways in which servers follow dot segments; most URIs have none. */
function* waysOf({ path, rest }: Parts, folds: Folds): Generator<[segments: string[], rest: string]> {
  const inRest = dotSegment.test(rest);
  if (!inRest && !dotSegment.test(path)) {
    yield [path.split(/[/\\]+/), rest];
    return;
  }
  folds.leadsElsewhere = true;
  // Some take a query or fragment for a part of the path, and some a doubled slash for one.
  for (const [read, behind] of rest === ''
    ? [[path, rest] as const]
    : ([
        [path, rest],
        [path + rest, ''],
      ] as const)) {
    const segments = read.split(/[/\\]/);
    for (const some of [segments, segments.filter((segment) => segment !== '')])
      for (const isLenient of [false, true])
        for (const keepsHost of [false, true]) yield [followed(some, isLenient, keepsHost), behind];
  }
}

/**
 * @param isLenient blanks and path parameters are left out before dots are looked for
 * @param keepsHost `..` does not lead out of the host
 */
function followed(segments: readonly string[], isLenient: boolean, keepsHost: boolean): string[] {
  const path: string[] = [];
  let filled = 0;
  for (const segment of segments) {
    const name = isLenient ? withoutParameters(segment).trim() : segment;
    if (name === '..') {
      if (keepsHost && filled === 1 && path.at(-1) !== '') continue;
      if (path.pop()) filled--;
    } else if (name !== '.') {
      path.push(segment);
      if (segment !== '') filled++;
    }
  }
  return path;
}

function withoutParameters(segment: string): string {
  const at = segment.indexOf(';');
  return at === -1 ? segment : segment.slice(0, at);
}

/** Returns a segment as a server reads it that drops path parameters, blanks and trailing dots. */
function bareName(segment: string): string {
  const name = withoutParameters(segment).trim();
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end--;
  return name.slice(0, end);
}

const mayBeLonger = /;|[.\s]$|^\s/;

function addFold(
  { scheme, path }: Parts,
  segments: readonly string[],
  rest: string,
  isLess: boolean,
  texts: Map<string, boolean>,
): void {
  const names = segments.map((name) => (mayBeLonger.test(name) ? bareName(name) : name)).filter(Boolean);
  const hasHost = path.startsWith('/') || path.startsWith('\\');
  const host = foldedHost(names[0] ?? '', scheme);
  const tail = names.slice(1).join('/');
  add(behind(host), isLess);
  if (!hasHost) return;
  if (!scheme.endsWith('file:')) for (const alone of hostsAlone(host, scheme)) add(behind(alone), true);
  // Servers that know only files of their own leave out every host, which two slashes begin.
  else if (/^[/\\]{2}[^/\\]/.test(path)) add(behind(''), true);

  function behind(of: string): string {
    const isNone = of === '' || (scheme === 'file:' && hasHost && of === 'localhost');
    return [isNone ? '' : of, tail].filter(Boolean).join('/');
  }

  function add(folded: string, leavesOut: boolean): void {
    const text = folded === '' ? scheme + rest : `${scheme}${folded}/${rest}`;
    texts.set(text, leavesOut && (texts.get(text) ?? true));
  }
}

/** Schemes of which every server knows that a port is another server. */
const ports: Readonly<Record<string, string>> = { http: ':80', https: ':443', ws: ':80', wss: ':443' };

function portOf(scheme: string): string | undefined {
  return ports[scheme.slice(scheme.lastIndexOf('+') + 1, -1)];
}

function foldedHost(name: string, scheme: string): string {
  const ownPort = portOf(scheme);
  const host = ownPort && name.endsWith(ownPort) ? bareName(name.slice(0, -ownPort.length)) : name;
  const folded = asciiOnly.test(host) ? host.toLowerCase() : host.toUpperCase().toLowerCase();
  return folded.includes('xn--') ? domainToUnicode(folded) || folded : folded;
}

/** Returns the URI as a server reads it that looks at the host only: `user@secret:80` is `secret` to it. */
function hostsAlone(host: string, scheme: string): string[] {
  const at = host.lastIndexOf('@');
  const named = host.slice(at + 1);
  const alone = bareName(portOf(scheme) ? named : named.replace(/:\d*$/, ''));
  if (alone === host) return [];
  // What looks like the key of one of several backends is a part of the user, where there is one server.
  const [key] = (at > 0 && /^[a-z][a-z0-9-]*\+/.exec(host)) || [];
  return key === undefined ? [alone] : [key + alone, alone];
}

/** Normalizes a URI as a URL. The key of a joined backend stays in place. */
export function hrefOf(uri: string): string {
  const [, ui = '', key = '', rest = ''] = /^(ui:\/\/)?([a-z][a-z0-9-]*\+)(.*)$/s.exec(uri) ?? [];
  if (key === '') return URL.parse(uri)?.href ?? uri;
  const href = URL.parse(ui + rest)?.href;
  return href === undefined ? uri : ui + key + href.slice(ui.length);
}

/** Bytes that are no UTF-8 stay; those of ASCII are decoded whatever stands beside them. */
function decoded(uri: string): string {
  if (!uri.includes('%')) return uri;
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri
      .replace(/%[0-7][0-9a-f]/gi, (byte) => String.fromCharCode(Number.parseInt(byte.slice(1), 16)))
      .replace(/(?:%[89a-f][0-9a-f])+/gi, (escaped) => {
        const bytes = Buffer.from(escaped.replaceAll('%', ''), 'hex');
        return isUtf8(bytes) ? bytes.toString() : escaped;
      });
  }
}
