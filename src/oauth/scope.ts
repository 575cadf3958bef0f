/** `scope-token` of RFC 6749 section 3.3: printable ASCII without space, `"` and `\`. */
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/**
 * @param value one scope
 * @returns whether it is a `scope-token` (RFC 6749 section 3.3)
 */
export function isScopeToken(value: string): boolean {
  return scopeToken.test(value);
}

/**
 * Scopes of the authorization server itself: they concern its user and its tokens, and no resource can define them
 * (OpenID Connect Core 1.0 sections 3.1.2.1 and 11).
 */
export const personalScopes: readonly string[] = ['openid', 'offline_access'];

/** Scopes of OpenID Connect Core 1.0 section 5.4. A resource may define scopes with these names. */
export const profileScopes: readonly string[] = ['profile', 'email', 'address', 'phone'];

/**
 * @param value a `scope` parameter; absent and empty mean no scopes
 * @returns the distinct scopes, in order (RFC 6749 section 3.3)
 */
export function parseScope(value: string | undefined): string[] {
  return [...new Set((value ?? '').split(' ').filter((token) => token !== ''))];
}

/** @returns the `scope` parameter for a list of scopes (RFC 6749 section 3.3) */
export function formatScope(scopes: Iterable<string>): string {
  return [...new Set(scopes)].join(' ');
}

/**
 * Writes the `scope` parameter with one space between its scopes, each once: oidc-provider compares what stands between
 * spaces (FA-28).
 * @param parameters changed in place
 * @returns whether anything was changed
 */
export function tidyScope(parameters: URLSearchParams): boolean {
  const [given, ...more] = parameters.getAll('scope');
  const tidy = formatScope(parseScope(given));
  if (given === undefined || more.length > 0 || tidy === given) return false;
  parameters.set('scope', tidy);
  return true;
}

/** @returns the scopes of `needed` that `granted` lacks, in the order of `needed` */
export function missingScopes(granted: Iterable<string>, needed: Iterable<string>): string[] {
  const held = new Set(granted);
  return [...needed].filter((scope) => !held.has(scope));
}

/** @returns the scopes of all lists without duplicates, in order (step-up by union, A8-07) */
export function scopeUnion(...lists: Iterable<string>[]): string[] {
  return [...new Set(lists.flatMap((list) => [...list]))];
}
