import { bringsKeys, checkKeyMetadata, holdsPrivateKey, pickKeyMetadata } from '../client-keys/key-set.ts';
import {
  authMethodsMember,
  checkName,
  checkRedirectUris,
  chooseApplicationType,
  type Metadata,
  namesAuthMethod,
  normalizeGrantTypes,
} from '../client-metadata.ts';

function parseJson(body: Uint8Array): Metadata {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new DocumentRefused('it is not JSON in UTF-8', { cause });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new DocumentRefused('it is not a JSON object');
  return parsed as Metadata;
}

/** A document is public: what is in it is no secret, and a client that puts one there has lost it (T-074). */
function checkSecrets(document: Metadata): string | undefined {
  if ('client_secret' in document || 'client_secret_expires_at' in document)
    return 'it holds a client secret, which a public document must not';
  if (String(document.token_endpoint_auth_method ?? '').startsWith('client_secret_'))
    return 'it names a way to authenticate by a shared secret, which nobody shares with us';
  const keys = (document.jwks as { keys?: unknown } | undefined)?.keys;
  return Array.isArray(keys) && keys.some(holdsPrivateKey) ? 'it holds a private key' : undefined;
}

function checkMembers(document: Metadata, url: string, schemes: readonly string[]): string | undefined {
  if (document.client_id !== url) return 'its client_id is not its own URL, character by character';
  const secret = checkSecrets(document);
  if (secret) return secret;
  if (typeof document.client_name !== 'string' || document.client_name.trim() === '')
    return 'it has no client_name';
  const refusal = checkName(document) ?? checkRedirectUris(document, schemes);
  return refusal?.description;
}

/**
 * How the client authenticates: not at all, by its key, or either, where it names both: ChatGPT's does, and sends an
 * assertion at some times only (AS-11).
 */
function readAuthentication(document: Metadata): Metadata {
  const isPublic = namesAuthMethod(document, 'none');
  const signs = namesAuthMethod(document, 'private_key_jwt') && (bringsKeys(document) || !isPublic);
  if (!signs && !isPublic)
    throw new DocumentRefused(
      'it names no way to authenticate that is taken here: none or private_key_jwt has to be among them',
    );
  if (!signs) return { token_endpoint_auth_method: 'none' };
  const fault = checkKeyMetadata(document);
  if (fault) throw new DocumentRefused(fault);
  return {
    token_endpoint_auth_method: 'private_key_jwt',
    ...(isPublic ? { [authMethodsMember]: ['private_key_jwt', 'none'] } : undefined),
    ...pickKeyMetadata(document),
  };
}

function isHttpsUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.parse(value)?.protocol === 'https:';
}

/**
 * Reads a client ID metadata document and gives the client metadata the engine takes: what a page shows, its redirect URIs,
 * grant types and how it authenticates; nothing else of it counts.
 * @param url where it was fetched: its `client_id` has to be just this (T-072)
 * @param body its bytes
 * @param schemes redirect schemes that the operator allows beside those of known apps
 * @throws DocumentRefused
 * @see draft-ietf-oauth-client-id-metadata-document-00 section 4.1 (A5-06, A5-07, A5-08)
 */
export function parseDocument(url: string, body: Uint8Array, schemes: readonly string[] = []): Metadata {
  const document = parseJson(body);
  const fault = checkMembers(document, url, schemes);
  if (fault) throw new DocumentRefused(fault);
  const { client_name, client_uri, redirect_uris } = document;
  const grantTypes = normalizeGrantTypes(document.grant_types);
  return {
    client_id: url,
    client_name,
    redirect_uris,
    ...(isHttpsUrl(client_uri) ? { client_uri } : undefined),
    ...(grantTypes ? { grant_types: grantTypes } : undefined),
    response_types: ['code'],
    application_type: chooseApplicationType(document),
    ...readAuthentication(document),
  };
}

/** A client ID metadata document that is not taken. The message is a sentence for the person or the developer, in ASCII. */
export class DocumentRefused extends Error {
  override name = 'DocumentRefused';
  /** Seconds after which it may go better; undefined where it will not until somebody changes something. */
  readonly retryAfterSeconds: number | undefined;
  /** Whether the cause is that too much was asked of us, and not the document's host. */
  readonly isOurLimit: boolean;
  constructor(
    message: string,
    {
      retryAfterSeconds,
      isOurLimit = false,
      cause,
    }: { retryAfterSeconds?: number; isOurLimit?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryAfterSeconds = retryAfterSeconds;
    this.isOurLimit = isOurLimit;
  }
}

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
