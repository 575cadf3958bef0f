import { isRecord } from '../../mcp/protocol.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { cleanText, hasUnseen, isUnclean } from './clean-text.ts';
import { isTooLarge } from './definition-bounds.ts';
import { withoutTransportMeta } from './definition-hash.ts';
import type { Entry } from './listed.ts';

/** Reason why a definition is not passed on. */
export type DefinitionFault = 'too_large' | 'unseen_characters' | 'script_url';

/** A definition as clients may read it, and how many icons and links were taken out; or why they may not. */
export type CleanDefinition =
  | { definition: Entry; removed: number; fault?: undefined }
  | { fault: DefinitionFault; definition?: undefined; removed?: undefined };

/** Members that are text for people and models; all other text of a definition is data, which nothing may change. */
const texts = new Set(['title', 'description', 'instructions', '$comment', 'enumNames']);

/** Members by which something is used: they may hold no line ends either. */
const names = new Set(['name', 'uri', 'uriTemplate']);

/** Members that hold data, in which `title` and `description` are members like others. */
const data = new Set(['default', 'const', 'enum', 'examples', 'required', '_meta']);

/** Members that hold schemas by names somebody chose. */
const named = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
]);

/** Members whose text is a URL or URI, however they are spelt. */
const urlMember = /(?:uri|url|href|src|template)$/i;

/** Schemes by which text becomes a program. */
const programScheme = /^\s*(?:javascript|vbscript):/i;

/** Schemes by which a URL becomes a page that nobody serves. */
const pageScheme = /^\s*(?:data|blob|filesystem|view-source):/i;

/** Members of a schema whose text says what is valid: no host opens it. */
const validValues = new Set(['default', 'const', 'enum', 'examples', 'required', 'pattern']);

/** Images without scripts, as text: an SVG image may hold one, and refer to other places. */
const dataImage = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon);base64,/i;

const base64 = /^[A-Za-z0-9+/_=-]+$/;

/** Longest icon that is read, in characters. */
const maxIconLength = 131_072;

/** Findings in a definition. */
interface Findings {
  fault?: DefinitionFault;
  removed: number;
}

/**
 * Takes out of the texts of a definition what nobody sees (T-160, T-211): titles, descriptions and comments at any depth, and
 * icons and links that a host must not open. All other text is data, which would mean something else without a character:
 * names, values of `enum`, `const`, `default` and `examples`, patterns, `_meta`. If such text has a character that nobody
 * sees, or a URI in it is a script, there is no clean definition.
 * @returns the definition itself if there is nothing to take out
 */
export function cleanDefinition(definition: Entry): CleanDefinition {
  if (isTooLarge(definition)) return { fault: 'too_large' };
  const found: Findings = { removed: 0 };
  const cleaned = cleanRecord(withoutTransportMeta(definition), found);
  return found.fault ? { fault: found.fault } : { definition: cleaned, removed: found.removed };
}

/**
 * Cleans what a server says of itself: all text in it is for people. What is too large says nothing but a name.
 * @param info `serverInfo` of a result
 * @returns `info` itself if there is nothing to take out, and how many icons and links were
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
 * Cleans every text of a value that is for people: data of an error. Members with names nobody sees, and script URLs, are
 * left out.
 * @returns the value itself if there is nothing to take out; undefined if it is too large to be read
 */
export function cleanTexts(value: unknown): unknown {
  return isTooLarge(value) ? undefined : withCleanTexts(value);
}

/**
 * Leaves out of a value of data each member that has characters nobody sees, or is a script URL: capabilities of a server,
 * `_meta` of a result.
 * @returns the value itself if there is nothing to leave out; an empty record if it is too large to be read
 */
export function withoutFaults(value: Entry): Entry {
  if (isTooLarge(value)) return {};
  return onlyGood(value) as Entry;
}

/** Returns whether a host may open a URL: an absolute https URL, without a character nobody sees. */
export function isWebsite(url: unknown): url is string {
  return parseUrl(url)?.protocol === 'https:';
}

/** Returns whether a person may be sent to a URL: an https URL, or an http URL on the machine of the person. */
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

/** The names are anybody's, so none of them says what its value is. */
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

/** Browsers read a URL without its tabs and line ends. */
function isScript(key: string, value: string): boolean {
  const read = value.replace(/[\t\r\n]/g, '');
  const isUrl = urlMember.test(key);
  if (programScheme.test(read)) return isUrl || !validValues.has(key);
  return isUrl && pageScheme.test(read) && !isDataImage(read);
}

/** Icons are images at https URLs, or of some types as text. A list that cannot be read has none. */
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

/** Members that become undefined, and those with names nobody sees, are left out. */
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
