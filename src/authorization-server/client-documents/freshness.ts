import type { IncomingHttpHeaders } from 'node:http';

/** How long a document may be used without asking for it again, in seconds, whatever its server says (T-075). */
export const freshnessBounds = { atLeast: 30, unsaid: 300, atMost: 86_400 } as const;

/** The value of a Cache-Control directive: undefined where it is not there, '' where it has none. */
function directive(cacheControl: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|,)\\s*${name}\\s*(?:=\\s*"?(\\d*)"?)?\\s*(?:,|$)`, 'i').exec(cacheControl);
  return found ? (found[1] ?? '') : undefined;
}

function saidFreshness(headers: IncomingHttpHeaders, nowSeconds: number): number | undefined {
  const control = headers['cache-control'] ?? '';
  if (directive(control, 'no-store') !== undefined || directive(control, 'no-cache') !== undefined) return 0;
  const maxAge = directive(control, 's-maxage') || directive(control, 'max-age');
  if (maxAge) return Number(maxAge) - (Number(headers.age) || 0);
  if (headers.expires === undefined) return undefined;
  const expires = Date.parse(headers.expires);
  const since = Date.parse(headers.date ?? '');
  // An Expires that is no date means the past (RFC 9111 section 5.3).
  return Number.isNaN(expires) ? 0 : (expires - (Number.isNaN(since) ? nowSeconds * 1000 : since)) / 1000;
}

/**
 * Gives how long a document is fresh by what its server says, within our bounds (RFC 9111 section 4.2.1; A5-08).
 * @param headers of the answer
 * @param nowSeconds epoch seconds
 * @returns whole seconds
 */
export function freshSeconds(headers: IncomingHttpHeaders, nowSeconds: number): number {
  const said = saidFreshness(headers, nowSeconds) ?? freshnessBounds.unsaid;
  return Math.floor(Math.min(freshnessBounds.atMost, Math.max(freshnessBounds.atLeast, said)));
}
