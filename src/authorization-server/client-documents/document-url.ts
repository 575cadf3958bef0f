/** Longest URL taken, in characters. */
const maxUrlLength = 2048;

/**
 * Looks at a client id that begins as an https URL: one is taken in the one spelling that the URL parser itself writes.
 * That leaves out a second spelling of every kind: upper case, the default port, dot segments, `%2e`, tabs,
 * backslashes, names in Unicode, and a URL without a path (T-073).
 * @returns what is wrong with it, as the end of a sentence; undefined for a URL that may be asked for its document
 * @see draft-ietf-oauth-client-id-metadata-document-00 section 3 (A5-06)
 */
export function checkDocumentUrl(clientId: string): string | undefined {
  if (clientId.length > maxUrlLength) return `may have at most ${maxUrlLength} characters`;
  const url = URL.parse(clientId);
  if (url?.protocol !== 'https:') return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must have no user name';
  if (clientId.includes('#')) return 'must have no fragment';
  if (url.href !== clientId) return `must be written as ${url.href}`;
  if (url.hostname.endsWith('.')) return 'must have no dot at the end of its host';
  return undefined;
}
