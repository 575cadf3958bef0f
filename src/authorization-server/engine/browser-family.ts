/** A browser as coarsely as a person tells browsers apart: nothing else of its `User-Agent` is kept. */
export interface BrowserFamily {
  /** Its name, such as Firefox. */
  name: string;
  /** The system it runs on, such as Linux; undefined where it is none of those known here. */
  system?: string;
}

/** The first that fits counts: most browsers claim to be Chrome and Safari as well. */
const names: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|\bCriOS)\//, 'Chrome'],
  [/\bVersion\/[\d.]+ (Mobile\/\w+ )?Safari\//, 'Safari'],
];

/** The first that fits counts: Android is a Linux, and an iPhone says “like Mac OS X”. */
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iOS'],
  [/\biPad\b/, 'iPadOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/**
 * Finds out which browser a request came from. It is a hint for the person whose login it is, and proves nothing.
 * @param userAgent the header `User-Agent`; empty for none (RFC 9110 section 10.1.5)
 * @returns names out of tables of ours; undefined for what is none of the browsers there
 */
export function browserFamily(userAgent: string): BrowserFamily | undefined {
  const first = (table: typeof names): string | undefined =>
    table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const name = first(names);
  const system = first(systems);
  return name === undefined ? undefined : { name, ...(system === undefined ? undefined : { system }) };
}
