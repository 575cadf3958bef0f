import { describeDifference, quote } from '../../client/quote.ts';
import { parseObject } from '../../oauth/foreign-json.ts';
import { checkRedirectUri } from '../../oauth/redirect-uri.ts';
import type { Answered } from '../ask.ts';

/** Servers read at most this much of a document, in bytes; 5 KiB is what the draft recommends. */
const maxDocumentBytes = 5 * 1024;

/** Members that do not belong in the public document of a client. */
const symmetricMethods = new Set(['client_secret_basic', 'client_secret_post', 'client_secret_jwt']);

/**
 * Finds what is wrong with the URL of a client ID metadata document.
 * @param value the URL, as the user gave it
 * @returns the faults, each the rest of a sentence that begins with "the URL"
 * @see draft-ietf-oauth-client-id-metadata-document, "Client Identifier"
 */
export function metadataUrlFaults(value: string): string[] {
  const url = URL.parse(value);
  if (url === null) return ['is not absolute'];
  const faults: string[] = [];
  if (url.protocol !== 'https:') faults.push(`has the scheme ${quote(url.protocol)} instead of https`);
  if (url.pathname === '/') faults.push('has no path');
  if (/\/\.{1,2}(?:\/|$)/.test(value)) faults.push('has a dot segment');
  if (value.includes('#')) faults.push('has a fragment');
  if (url.username !== '' || url.password !== '') faults.push('has a user name in it');
  return faults;
}

/**
 * Finds what is wrong with a client ID metadata document.
 * @param url its URL
 * @param answer its content
 * @returns the faults, each a sentence without its full stop
 * @see MCP authorization "Client ID Metadata Documents"
 */
export function metadataDocumentFaults(url: string, { status, headers, text }: Answered): string[] {
  if (status >= 300 && status < 400)
    return [`it redirects to ${quote(headers.get('location'))}, which no server follows`];
  if (status !== 200) return [`it is answered with status ${status}`];
  const json = parseObject(text);
  if (json === undefined) return [`it holds no JSON object but ${quote(text)}`];
  const faults: string[] = [];
  const type = headers.get('content-type') ?? 'missing';
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
    faults.push(`its Content-Type is ${quote(type)}, not JSON`);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > maxDocumentBytes)
    faults.push(`it has ${bytes} bytes, more than the ${maxDocumentBytes} that servers read`);
  const {
    client_id: id,
    client_name: name,
    redirect_uris: redirects,
    token_endpoint_auth_method: method,
  } = json;
  if (id !== url) faults.push(`its client_id is not its URL: ${describeDifference(url, String(id))}`);
  if (typeof name !== 'string' || name === '') faults.push('it has no client_name');
  if (!Array.isArray(redirects) || redirects.length === 0) faults.push('it has no redirect_uris');
  else
    for (const uri of redirects) {
      const fault = checkRedirectUri(uri);
      if (fault !== undefined) faults.push(`its redirect URI ${quote(uri)} is refused (${fault})`);
    }
  if (typeof method === 'string' && symmetricMethods.has(method))
    faults.push(`its token_endpoint_auth_method ${quote(method)} needs a secret, and the document is public`);
  if ('client_secret' in json) faults.push('it publishes a client_secret');
  return faults;
}

/**
 * The redirect URIs of a document.
 * @param text the document
 */
export function publishedRedirectUris(text: string): string[] {
  const uris = parseObject(text)?.redirect_uris;
  return Array.isArray(uris) ? uris.filter((uri): uri is string => typeof uri === 'string') : [];
}
