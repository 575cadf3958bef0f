import { describeDifference, quote } from '../../client/quote.ts';
import { clientProfiles } from '../../oauth/client-profiles/client-profiles.ts';
import { parseObject } from '../../oauth/foreign-json.ts';
import { checkRedirectUri } from '../../oauth/redirect-uri.ts';
import { type Answer, type Answered, ask } from '../ask.ts';
import { type Check, fail, pass, skip, unknown, warn } from '../check.ts';
import {
  type AuthorizationOutcome,
  describeOutcome,
  foundServer,
  judgeLost,
  sendAuthorization,
} from '../login/authorization-outcome.ts';
import type { Subject } from '../subject.ts';

const untold = 'No URL of a client ID metadata document was given.';

/** Fact: the response at the URL of the user's own document. */
async function ownDocument(subject: Subject): Promise<Answer | undefined> {
  const url = subject.login?.clientIdMetadataUrl;
  return url === undefined ? undefined : ask(subject, url, { headers: { accept: 'application/json' } });
}

/** Checks the document of the user's client. */
export const metadataDocumentCheck: Check = {
  id: 'REG-CIMD-DOCUMENT',
  section: 'registration',
  title: 'The metadata document of the client can be read and names its own URL',
  clause: 'MCP authorization "Client ID Metadata Documents"',
  async judge(subject) {
    const url = subject.login?.clientIdMetadataUrl;
    if (url === undefined) return skip(untold);
    const wrong = metadataUrlFaults(url);
    if (wrong.length > 0)
      return fail(
        `The URL ${wrong.join(', and ')}: ${url}.`,
        'Publish the document at an https URL with a path, and use exactly that URL as client_id.',
      );
    const answer = await subject.fact(ownDocument);
    if (answer === undefined) return skip(untold);
    const { evidence } = answer;
    if (answer.kind === 'unanswered')
      return fail(
        `${url} gave no answer: ${answer.why}.`,
        'Make the document reachable from the internet: authorization servers fetch it.',
        { evidence },
      );
    const faults = metadataDocumentFaults(url, answer);
    if (faults.length === 0) return pass(`${url} holds a document that names itself.`, { evidence });
    return fail(
      `In the document at ${url}: ${faults.join('; ')}.`,
      'Serve application/json with status 200, without redirects, with client_id equal to its URL byte for byte, client_name and redirect_uris.',
      { evidence },
    );
  },
};

/** Checks that the authorization server fetches it. */
export const metadataDocumentReadCheck: Check = {
  id: 'REG-CIMD-ACCEPTED',
  section: 'registration',
  title: "The authorization server takes the client's metadata document for its registration",
  clause: 'MCP authorization "Client ID Metadata Documents"; RFC 8252 section 7.3',
  active: true,
  needs: ['REG-CIMD-DOCUMENT'],
  async judge(subject) {
    const url = subject.login?.clientIdMetadataUrl;
    if (url === undefined) return skip(untold);
    const way = await subject.fact(foundServer);
    if (way.kind === 'lost') return judgeLost(way);
    const { issuer, client_id_metadata_document_supported: isRead } = way.found.authorizationServer;
    if (isRead !== true)
      return skip('The authorization server does not announce client_id_metadata_document_supported.');
    const document = await subject.fact(ownDocument);
    const redirectUris = document?.kind === 'answered' ? publishedRedirectUris(document.text) : [];
    const outcome = await sendAuthorization(subject, way.found, {
      issuer,
      clientId: url,
      redirectUris,
      source: 'metadata_document',
    });
    const { evidence } = outcome;
    const saw = `An authorization request with client_id ${url}, and its first redirect URI, ${describeOutcome(outcome)}.`;
    if (outcome.kind === 'code' || outcome.kind === 'onward') return pass(saw, { evidence });
    if (outcome.kind === 'none' || outcome.kind === 'page') return unknown(saw, { evidence });
    return fail(
      saw,
      'The authorization server has to reach the document from where it runs (proxy, firewall), and to let any port match loopback redirect URIs in it.',
      { evidence },
    );
  },
};

/** Advice for an authorization server that announces documents but cannot fetch them. */
export const documentsNotFetchedFix =
  'Let the authorization server reach the hosts of documents (egress, proxy, DNS), or take client_id_metadata_document_supported out of its metadata, so that clients register. In Gatehouse set clients.metadataDocuments.enabled to false.';

/** Fact: the reaction of the authorization endpoint to widely used clients with a document. */
async function knownDocuments(subject: Subject): Promise<{ url: string; outcome: AuthorizationOutcome }[]> {
  const way = await subject.fact(foundServer);
  if (way.kind === 'lost') return [];
  const { issuer } = way.found.authorizationServer;
  const tried: { url: string; outcome: AuthorizationOutcome }[] = [];
  for (const { metadataDocument, redirectUri } of clientProfiles) {
    if (metadataDocument === undefined) continue;
    const { url } = metadataDocument;
    const outcome = await sendAuthorization(subject, way.found, {
      issuer,
      clientId: url,
      redirectUris: [redirectUri],
      source: 'metadata_document',
    });
    tried.push({ url, outcome });
  }
  return tried;
}

/**
 * Checks that the authorization server can fetch documents; behind a firewall it may announce what it cannot do
 * (FA-52).
 */
export const documentsFetchedCheck: Check = {
  id: 'REG-CIMD-FETCHED',
  section: 'registration',
  title: 'An authorization server that announces metadata documents can fetch those of widely used clients',
  clause: 'MCP authorization "Client ID Metadata Documents"',
  active: true,
  async judge(subject) {
    const way = await subject.fact(foundServer);
    if (way.kind === 'lost') return judgeLost(way);
    if (way.found.authorizationServer.client_id_metadata_document_supported !== true)
      return skip('The authorization server does not announce client_id_metadata_document_supported.');
    const tried = await subject.fact(knownDocuments);
    const evidence = tried.flatMap(({ outcome }) => outcome.evidence);
    const saw = tried
      .map(({ url, outcome }) => `A request of the client ${url} ${describeOutcome(outcome)}.`)
      .join(' ');
    const kinds = tried.map(({ outcome }) => outcome.kind);
    if (kinds.some((kind) => kind === 'code' || kind === 'onward')) return pass(saw, { evidence });
    if (kinds.length > 0 && kinds.every((kind) => kind === 'broken'))
      return fail(saw, documentsNotFetchedFix, { evidence });
    return kinds.every((kind) => kind === 'broken' || kind === 'refused')
      ? warn(saw, documentsNotFetchedFix, { evidence })
      : unknown(saw, { evidence });
  },
};

/** Maximum size of a document that all servers read, in bytes; the draft recommends 5 KiB. */
const maxDocumentBytes = 5 * 1024;

/** Members that a public document must not have. */
const symmetricMethods = new Set(['client_secret_basic', 'client_secret_post', 'client_secret_jwt']);

/**
 * Returns the faults of the URL of a client ID metadata document, each as the rest of a sentence that begins with "the
 * URL".
 * @param value the URL as the user gave it
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
 * Returns the faults of a client ID metadata document, each as a sentence without its full stop.
 * @param url its URL
 * @param answer its content
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

/** Returns the redirect URIs of a document. */
export function publishedRedirectUris(text: string): string[] {
  const uris = parseObject(text)?.redirect_uris;
  return Array.isArray(uris) ? uris.filter((uri): uri is string => typeof uri === 'string') : [];
}
