import { isRecord } from '../../mcp/protocol.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { isTooLarge, withoutTransportMeta } from './definition-hash.ts';
import type { Entry } from './step.ts';

/** Reason why a definition is not passed on. */
export type DefinitionFault = 'too_large' | 'unseen_characters' | 'script_url';

/** A clean definition with the number of removed icons and links; or the reason why it is not passed on. */
type CleanDefinition =
  | { definition: Entry; removed: number; fault?: undefined }
  | { fault: DefinitionFault; definition?: undefined; removed?: undefined };

/** Members that are text for users and models. All other text of a definition is data, which must not be changed. */
const texts = new Set(['title', 'description', 'instructions', '$comment', 'enumNames']);

/** Members that identify something: they must not contain line ends. */
const names = new Set(['name', 'uri', 'uriTemplate']);

/** Members that contain data: `title` and `description` in them have no special meaning. */
const data = new Set(['default', 'const', 'enum', 'examples', 'required', '_meta']);

/** Members that contain schemas by freely chosen names. */
const named = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
]);

/** Members whose text is a URL or URI, in any spelling. */
const urlMember = /(?:uri|url|href|src|template)$/i;

/** URL schemes that run a program. */
const programScheme = /^\s*(?:javascript|vbscript):/i;

/** URL schemes of pages without a server. */
const pageScheme = /^\s*(?:data|blob|filesystem|view-source):/i;

/** Members of a schema whose text is a valid value: no host opens it. */
const validValues = new Set(['default', 'const', 'enum', 'examples', 'required', 'pattern']);

/** Images as data URLs that cannot contain scripts or references, as SVG can. */
const dataImage = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon);base64,/i;

const base64 = /^[A-Za-z0-9+/_=-]+$/;

/** Maximum length of an icon, in characters. */
const maxIconLength = 131_072;

/** Findings in a definition. */
interface Findings {
  fault?: DefinitionFault;
  removed: number;
}

/**
 * Removes invisible characters from titles, descriptions and comments of a definition at any depth, and icons and links
 * that a host must not open (T-160, T-211). All other text is data, which would change its meaning: names, values of
 * `enum`, `const`, `default` and `examples`, patterns, `_meta`. If such text contains an invisible character, or a URI
 * in it is a script, the definition cannot be cleaned.
 * @returns the same object if nothing was removed
 */
export function cleanDefinition(definition: Entry): CleanDefinition {
  if (isTooLarge(definition)) return { fault: 'too_large' };
  const found: Findings = { removed: 0 };
  const cleaned = cleanRecord(withoutTransportMeta(definition), found);
  return found.fault ? { fault: found.fault } : { definition: cleaned, removed: found.removed };
}

/**
 * Cleans a server's description of itself: all its text is for users. If it is too large, only a name is left.
 * @param info `serverInfo` of a result
 * @returns `info` itself if nothing was removed, and the number of removed icons and links
 */
export function cleanServerInfo(info: Entry): { info: Entry; removed: number } {
  if (isTooLarge(info)) return { info: { name: 'unnamed', version: '0' }, removed: 0 };
  const { icons, websiteUrl, ...rest } = info;
  const found: Findings = { removed: 0 };
  const cleaned = cleanTexts(rest) as Entry;
  const keptIcons = icons === undefined ? undefined : cleanIcons(icons, found);
  const hasWebsite = websiteUrl !== undefined && isWebsite(websiteUrl);
  if (websiteUrl !== undefined && !hasWebsite) found.removed++;
  if (cleaned === rest && found.removed === 0) return { info, removed: 0 };
  return {
    info: {
      ...cleaned,
      ...(keptIcons !== undefined && { icons: keptIcons }),
      ...(hasWebsite && { websiteUrl }),
    },
    removed: found.removed,
  };
}

/**
 * Cleans every text of a value, which is for users: data of an error. Members with invisible names, and script URLs,
 * are removed.
 * @returns the value itself if nothing was removed; undefined if it is too large
 */
export function cleanTexts(value: unknown): unknown {
  return isTooLarge(value) ? undefined : withCleanTexts(value);
}

/**
 * Removes each member of a value that contains invisible characters, or is a script URL: capabilities of a server,
 * `_meta` of a result.
 * @returns the value itself if nothing was removed; an empty record if it is too large
 */
export function withoutFaults(value: Entry): Entry {
  if (isTooLarge(value)) return {};
  return onlyGood(value) as Entry;
}

/** Returns true for a URL that a host may open: an absolute https URL without invisible characters. */
export function isWebsite(url: unknown): url is string {
  return parseUrl(url)?.protocol === 'https:';
}

/** Returns true for a URL that a user may be sent to: an https URL, or an http URL on the user's machine. */
export function isOpenable(url: unknown): url is string {
  const parsed = parseUrl(url);
  return parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopbackHost(parsed.hostname));
}

function parseUrl(url: unknown): URL | undefined {
  if (typeof url !== 'string' || isUnclean(url) || url.trim() !== url) return undefined;
  return URL.parse(url) ?? undefined;
}

function cleanRecord(record: Entry, found: Findings): Entry {
  let cleaned: Entry | undefined;
  for (const [key, value] of Object.entries(record)) {
    if (isUnclean(key)) found.fault ??= 'unseen_characters';
    const clean = cleanMember(key, value, found);
    if (clean === value) continue;
    cleaned ??= { ...record };
    if (clean === undefined) delete cleaned[key];
    else cleaned[key] = clean;
  }
  return cleaned ?? record;
}

function cleanMember(key: string, value: unknown, found: Findings): unknown {
  if (key === 'icons') return cleanIcons(value, found);
  if (key === 'websiteUrl') {
    if (isWebsite(value)) return value;
    found.removed++;
    return undefined;
  }
  if (typeof value === 'string' && texts.has(key)) return cleanText(value);
  if (typeof value !== 'object' || value === null || data.has(key)) {
    checkData(key, value, found);
    return value;
  }
  if (Array.isArray(value)) return cleanList(key, value, found);
  return named.has(key) ? cleanNamed(value as Entry, found) : cleanRecord(value as Entry, found);
}

/** Cleans values under freely chosen names, which say nothing about the meaning of the value. */
function cleanNamed(record: Entry, found: Findings): Entry {
  if (Object.keys(record).some(isUnclean)) found.fault ??= 'unseen_characters';
  const members = Object.entries(record).map(
    ([name, value]) => [name, cleanMember('', value, found)] as const,
  );
  return members.every(([name, value]) => record[name] === value) ? record : Object.fromEntries(members);
}

function cleanList(key: string, list: readonly unknown[], found: Findings): unknown {
  const of = key === 'enumNames' ? key : '';
  const cleaned = list.map((value) => cleanMember(of, value, found));
  return cleaned.every((value, at) => value === list[at]) ? list : cleaned;
}

function checkData(key: string, value: unknown, found: Findings): void {
  if (typeof value === 'string') {
    found.fault ??= faultOfData(key, value);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    if (!isList && isUnclean(name)) found.fault ??= 'unseen_characters';
    checkData(isList ? key : name, member, found);
  }
}

function faultOfData(key: string, value: string): DefinitionFault | undefined {
  if (names.has(key) ? isUnclean(value) : hasUnseen(value)) return 'unseen_characters';
  return isScript(key, value) ? 'script_url' : undefined;
}

/** Returns true if a text is a script URL. Browsers ignore tabs and line ends in a URL. */
function isScript(key: string, value: string): boolean {
  const read = value.replace(/[\t\r\n]/g, '');
  const isUrl = urlMember.test(key);
  if (programScheme.test(read)) return isUrl || !validValues.has(key);
  return isUrl && pageScheme.test(read) && !isDataImage(read);
}

/** Returns the icons that are images at https URLs, or data URLs of some types; none if the list is invalid. */
function cleanIcons(icons: unknown, found: Findings): unknown {
  const list: unknown[] = Array.isArray(icons) ? icons : [];
  const kept = list.filter(isIcon);
  if (Array.isArray(icons) && kept.length === list.length) return icons;
  found.removed += Math.max(1, list.length - kept.length);
  return kept.length > 0 ? kept : undefined;
}

function isIcon(icon: unknown): boolean {
  if (!isRecord(icon) || typeof icon.src !== 'string') return false;
  const { src, ...rest } = icon;
  const found: Findings = { removed: 0 };
  checkData('', rest, found);
  if (found.fault) return false;
  return src.length <= maxIconLength && (isDataImage(src) || isWebsite(src));
}

function isDataImage(url: string): boolean {
  const image = dataImage.exec(url);
  return image !== null && base64.test(url.slice(image[0].length));
}

function withCleanTexts(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    const clean = cleanText(value);
    return urlMember.test(key) && isScript(key, clean) ? undefined : clean;
  }
  return mapMembers(value, key, withCleanTexts);
}

function onlyGood(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return faultOfData(key, value) ? undefined : value;
  return mapMembers(value, key, onlyGood);
}

/** Maps the members of a value; members that become undefined, and those with invisible names, are removed. */
function mapMembers(value: unknown, key: string, map: (value: unknown, key: string) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const mapped = value.map((each) => map(each, key));
    const kept = mapped.filter((each) => each !== undefined);
    return kept.length === value.length && kept.every((each, at) => each === value[at]) ? value : kept;
  }
  const members = Object.entries(value);
  const kept = members
    .filter(([name]) => !isUnclean(name))
    .map(([name, each]) => [name, map(each, name)] as const)
    .filter(([, each]) => each !== undefined);
  const isSame = kept.length === members.length && kept.every(([, each], at) => each === members[at]?.[1]);
  return isSame ? value : Object.fromEntries(kept);
}

/** Complete control sequences of terminals, with introducer, parameters and end (ECMA-48, OSC with its text). */
const terminalSequences = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)?/g,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /(?:\u001b\[|\u009b)[0-?]{0,64}[ -/]{0,16}[@-~]?/g,
];

/**
 * Characters that a user does not see, but a model or a terminal obeys: controls except tab and line ends, overrides
 * and isolates of direction, zero-width characters, empty letters, tags, and variation selectors of the supplement.
 * Joiners, direction marks and other variation selectors are needed by scripts and stay, but not in rows, and not
 * between ASCII letters.
 */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0f]{2,}|[\u061c\u200c-\u200f]{3,}|(?<=[A-Za-z\d])(?:[\u200c\u200d]|[\ufe00-\ufe0f])+(?=[A-Za-z\d])/gu;

const anyUnseen = new RegExp(unseen.source, 'u');

/** A joiner, direction mark or variation selector that no script needs: at an end, or between ASCII characters. */
const needless =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them.
  /(?:^|[\u0000-\u007f])(?:[\u061c\u200c-\u200f]|[\ufe00-\ufe0f])+(?:$|[\u0000-\u007f])/u;

/** Removes characters that a user does not see, but a model or a terminal obeys (T-160, T-190). */
export function cleanText(text: string): string {
  if (!anyUnseen.test(text)) return text;
  let clean = text;
  for (const sequence of terminalSequences) clean = clean.replace(sequence, '');
  return clean.replace(unseen, '');
}

/** Returns true if a value that must not be changed contains invisible characters: two values may look the same. */
export function hasUnseen(value: string): boolean {
  return anyUnseen.test(value) || needless.test(value);
}

/** Returns true if a name contains invisible characters or a line end: two names may look the same. */
export function isUnclean(name: string): boolean {
  return hasUnseen(name) || /[\t\r\n\u2028\u2029]/.test(name);
}
