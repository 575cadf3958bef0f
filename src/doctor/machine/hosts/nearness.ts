import leven from 'leven';

/** Relation of an entry's URL to the examined one. */
export type Nearness = 'same' | 'variant' | 'typo' | 'other';

function parts(url: string): { host: string; path: string; query: string } | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  const hostname = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(parsed.hostname) ? 'loopback' : parsed.hostname;
  return {
    host: `${hostname}:${parsed.port}`,
    path: parsed.pathname.replace(/\/+$/, ''),
    query: parsed.search,
  };
}

const withoutDigits = (text: string): string => text.replace(/\d+/g, '#');

/**
 * Returns true if two URLs were meant to be the same: a variant differs in what clients treat differently (scheme,
 * slash, case, name of loopback), a typo in a letter or two. What differs in numbers only are different servers.
 * @param examined URL under examination
 * @param configured URL of an entry
 */
export function compareUrls(examined: string, configured: string): Nearness {
  if (examined === configured) return 'same';
  const [left, right] = [parts(examined), parts(configured)];
  if (left === undefined || right === undefined) return leven(examined, configured) <= 2 ? 'typo' : 'other';
  const [a, b] = [left, right].map(({ host, path }) => `${host}${path}`) as [string, string];
  if (a.toLowerCase() === b.toLowerCase()) return 'variant';
  if (withoutDigits(a) === withoutDigits(b)) return 'other';
  return leven(a, b) <= 2 ? 'typo' : 'other';
}
