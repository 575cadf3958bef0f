import {
  checkName,
  checkRedirectUris,
  chooseApplicationType,
  type Metadata,
  namesAuthMethod,
  normalizeGrantTypes,
} from '../client-metadata.ts';
import { DocumentRefused } from './document-refused.ts';

/** Members of a key that only its owner may have (RFC 7517, RFC 7518 section 6). */
const privateKeyMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

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
  const leaks = (key: unknown): boolean =>
    typeof key === 'object' && key !== null && privateKeyMembers.some((member) => member in key);
  return Array.isArray(keys) && keys.some(leaks) ? 'it holds a private key' : undefined;
}

function checkMembers(document: Metadata, url: string): string | undefined {
  if (document.client_id !== url) return 'its client_id is not its own URL, character by character';
  const secret = checkSecrets(document);
  if (secret) return secret;
  if (typeof document.client_name !== 'string' || document.client_name.trim() === '')
    return 'it has no client_name';
  const refusal = checkName(document) ?? checkRedirectUris(document);
  if (refusal) return refusal.description;
  if (!namesAuthMethod(document, 'none'))
    return 'it names no way to authenticate that is taken here: none has to be among them';
  return undefined;
}

function isHttpsUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.parse(value)?.protocol === 'https:';
}

/**
 * Reads a client ID metadata document and gives the client metadata the engine takes: a public client with what a page
 * shows, its redirect URIs and grant types; nothing else of it counts. A client that could authenticate by a key as well
 * as not at all, as ChatGPT's, does not authenticate (AS-11).
 * @param url where it was fetched: its `client_id` has to be just this (T-072)
 * @param body its bytes
 * @throws DocumentRefused
 * @see draft-ietf-oauth-client-id-metadata-document-00 section 4.1 (A5-06, A5-08)
 */
export function parseDocument(url: string, body: Uint8Array): Metadata {
  const document = parseJson(body);
  const fault = checkMembers(document, url);
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
    token_endpoint_auth_method: 'none',
  };
}
