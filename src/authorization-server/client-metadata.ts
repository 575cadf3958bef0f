import {
  checkRedirectUri,
  hasAcceptedScheme,
  isLoopbackRedirect,
  isPrivateUseRedirect,
} from '../oauth/redirect-uri.ts';
import { bringsKeys, checkKeyMetadata, pickKeyMetadata } from './client-keys/key-set.ts';
import { tolerate } from './tolerances.ts';

/** Limits of client metadata (T-058, T-060). */
const limits = { redirectUris: 10, nameCharacters: 200 } as const;

/** Members a client may set about itself; everything else is dropped, so that nothing privileged gets in (T-063). */
const acceptedMembers = [
  'redirect_uris',
  'client_name',
  'client_uri',
  'contacts',
  'tos_uri',
  'policy_uri',
  'software_id',
  'software_version',
  'application_type',
  'grant_types',
  'response_types',
  'token_endpoint_auth_method',
] as const;

/** The grant type of a device (RFC 8628 section 3.4). */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

const supportedGrantTypes = new Set(['authorization_code', 'refresh_token', deviceGrantType]);

/** Authentication methods of clients (A13-03). */
export const supportedAuthMethods = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const;

function isSupported(method: unknown): boolean {
  return supportedAuthMethods.some((known) => known === method);
}

/** The list of methods of a client that may choose; we write none but this one. */
export const authMethodsMember = 'token_endpoint_auth_methods';

/**
 * Members in which clients list further methods; ChatGPT does so (rpMetadataChoices of OpenID Connect RP Metadata
 * Choices 1.0).
 */
const authMethodLists = ['token_endpoint_auth_methods_supported', authMethodsMember] as const;

/** Client metadata as it came (RFC 7591 section 2). */
export type Metadata = Record<string, unknown>;

/** Metadata that is refused (RFC 7591 section 3.2.2). */
export interface MetadataRefusal {
  status: number;
  error: 'invalid_redirect_uri' | 'invalid_client_metadata' | 'invalid_request';
  description: string;
}

/** Advice for the developer of a client whose redirect scheme is rejected. */
const schemeAdvice =
  'use https, http on a loopback host, or a scheme made of your domain name in reverse, such as com.example.app (RFC 8252 section 7.1); the operator of this server can allow others (clients.redirectSchemes)';

/** Returns true if a client logs in with device codes only: it has no redirect URI and needs none (RFC 8628; FA-28). */
export function isDeviceOnly({ redirect_uris: uris, grant_types: types }: Metadata): boolean {
  const hasNone = uris === undefined || (Array.isArray(uris) && uris.length === 0);
  return (
    hasNone &&
    isStringArray(types) &&
    types.includes(deviceGrantType) &&
    !types.includes('authorization_code')
  );
}

/**
 * Refuses metadata whose `redirect_uris` is not a short list of URIs that may be registered (T-058, T-214).
 * @param schemes schemes that the operator allows beside those of known apps
 */
export function checkRedirectUris(
  metadata: Metadata,
  schemes: readonly string[] = [],
): MetadataRefusal | undefined {
  const refuse = (description: string): MetadataRefusal => ({
    status: 400,
    error: 'invalid_redirect_uri',
    description,
  });
  const uris = metadata.redirect_uris;
  if (!Array.isArray(uris) || uris.length === 0)
    return refuse('redirect_uris must be an array with at least one URI');
  if (uris.length > limits.redirectUris)
    return refuse(`at most ${limits.redirectUris} redirect_uris are accepted`);
  for (const [index, uri] of uris.entries()) {
    const fault = checkRedirectUri(uri);
    const name = `redirect_uris[${index}] is refused:`;
    if (fault === 'forbidden_scheme') return refuse(`${name} forbidden scheme; ${schemeAdvice}`);
    if (fault) return refuse(`${name} ${fault.replaceAll('_', ' ')}`);
    if (!hasAcceptedScheme(uri, schemes)) return refuse(`${name} unknown scheme; ${schemeAdvice}`);
  }
  return undefined;
}

/**
 * Leaves out redirect URIs that could not be registered today, of metadata that was accepted earlier (T-214).
 * @returns the same object if all may stay; undefined if none may
 */
export function keepAcceptedRedirects<Kept extends object>(
  metadata: Kept,
  schemes: readonly string[],
): Kept | undefined {
  const { redirect_uris: uris } = metadata as Metadata;
  if (!isStringArray(uris)) return metadata;
  const kept = uris.filter((uri) => hasAcceptedScheme(uri, schemes));
  if (kept.length === uris.length) return metadata;
  return kept.length === 0 ? undefined : { ...metadata, redirect_uris: kept };
}

/** Refuses a `client_name` that is no text or a very long one; none at all is fine (T-060). */
export function checkName(metadata: Metadata): MetadataRefusal | undefined {
  const name = metadata.client_name;
  if (name === undefined || (typeof name === 'string' && name.length <= limits.nameCharacters))
    return undefined;
  return {
    status: 400,
    error: 'invalid_client_metadata',
    description: `client_name must be a string of at most ${limits.nameCharacters} characters`,
  };
}

/** The methods a client could use beside the one it prefers. */
function otherAuthMethods(metadata: Metadata): unknown[] {
  return authMethodLists.flatMap((list) => metadata[list] ?? []);
}

/** @returns whether a client could use a method: it prefers it or has it in a list; one that names none at all uses `none` */
export function namesAuthMethod(metadata: Metadata, method: string): boolean {
  const preferred = metadata.token_endpoint_auth_method;
  const others = otherAuthMethods(metadata).flat();
  if (preferred === method) return true;
  if (preferred === undefined) return others.length === 0 ? method === 'none' : others.includes(method);
  return others.includes(method) && tolerate('authMethodChoices', `prefers ${preferred}`);
}

/**
 * The authentication method of a registration. A client that prefers one we do not have, holds no keys for it, and
 * names `none` among those it could use, is a public client (RFC 7591 sections 2 and 3.2.1).
 */
function chooseAuthMethod(metadata: Metadata): unknown {
  const asked = metadata.token_endpoint_auth_method;
  if (asked === undefined || asked === null)
    return tolerate('unnamedAuthMethod', 'no token_endpoint_auth_method') ? 'none' : 'client_secret_basic';
  const canBeVerified = asked !== 'private_key_jwt' || bringsKeys(metadata);
  if (typeof asked !== 'string' || (isSupported(asked) && canBeVerified)) return asked;
  const isPublic = !bringsKeys(metadata) && otherAuthMethods(metadata).includes('none');
  return isPublic && tolerate('authMethodChoices', `prefers ${asked}`) ? 'none' : asked;
}

/** Refuses metadata that leaves no authentication method we have, or leaves out what the method needs. */
export function checkAuthMethod(metadata: Metadata): MetadataRefusal | undefined {
  const method = chooseAuthMethod(metadata);
  const description = isSupported(method)
    ? method === 'private_key_jwt'
      ? checkKeyMetadata(metadata)
      : undefined
    : `token_endpoint_auth_method must be one of ${supportedAuthMethods.join(', ')}`;
  return description === undefined
    ? undefined
    : { status: 400, error: 'invalid_client_metadata', description };
}

/**
 * Returns the `application_type` with which the engine accepts the redirect URIs: `native` for apps, whose loopback
 * ports may differ; `web` for sites, and for https on loopback, which the engine rejects for native clients.
 */
export function inferApplicationType(uris: readonly string[]): 'native' | 'web' {
  if (uris.some(isPrivateUseRedirect)) return 'native';
  const loopback = uris.filter(isLoopbackRedirect);
  const plain = loopback.filter((uri) => URL.parse(uri)?.protocol === 'http:');
  return plain.length > 0 && plain.length === loopback.length ? 'native' : 'web';
}

/**
 * Chooses the stored `application_type`: the client's value if it fits the redirect URIs, else the one that fits them.
 * @param metadata with checked redirect URIs
 */
export function chooseApplicationType(metadata: Metadata): unknown {
  const said = metadata.application_type ?? 'web';
  if (isDeviceOnly(metadata)) return 'native';
  const fitting = inferApplicationType(metadata.redirect_uris as string[]);
  return said === fitting || tolerate('applicationType', `application_type ${said}`) ? fitting : said;
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/**
 * Filters a list of grant types to the supported ones, always with `authorization_code`; undefined if the value is no
 * list (T-063). If other types are not tolerated, they stay in the list and the engine rejects them, also those that
 * only clients of the operator may have.
 */
export function normalizeGrantTypes(asked: unknown): string[] | undefined {
  if (!isStringArray(asked)) return undefined;
  const kept = asked.filter((type) => supportedGrantTypes.has(type));
  if (kept.length < asked.length && !tolerate('registeredGrantTypes', `grant_types ${asked.join(' ')}`))
    return asked.map((type) => (supportedGrantTypes.has(type) ? type : 'not for clients that register'));
  return kept.includes('authorization_code') ? kept : ['authorization_code', ...kept];
}

/**
 * Filters post-logout redirect URIs to those that fit the client. Others are dropped: no login depends on them (OpenID
 * Connect RP-Initiated Logout 1.0 section 3.1; T-122).
 */
function keepLogoutUris(asked: unknown, applicationType: unknown, schemes: readonly string[]): string[] {
  if (!isStringArray(asked)) return [];
  const fits = (uri: string): boolean =>
    applicationType === 'native'
      ? !(isLoopbackRedirect(uri) && URL.parse(uri)?.protocol === 'https:')
      : !isPrivateUseRedirect(uri);
  return asked
    .filter((uri) => checkRedirectUri(uri) === undefined && hasAcceptedScheme(uri, schemes) && fits(uri))
    .slice(0, limits.redirectUris);
}

/**
 * Converts a registration to the engine's form: only members that a client may set; `application_type` inferred from
 * the redirect URIs if it is missing or does not fit; a public client if no authentication method is named; only
 * supported grant types; no `scope`, which would limit the client to the scopes it foresaw. RFC 7591 section 2 lets a
 * server replace requested values.
 * @param metadata sent by the client, with checked redirect URIs
 * @param schemes see {@link checkRedirectUris}
 */
export function normalizeRegistration(metadata: Metadata, schemes: readonly string[] = []): Metadata {
  const accepted: Metadata = {};
  for (const member of acceptedMembers)
    if (Object.hasOwn(metadata, member)) accepted[member] = metadata[member];
  if (metadata.scope !== undefined && !tolerate('registeredScope', `scope ${metadata.scope}`))
    accepted.scope = metadata.scope;
  accepted.application_type = chooseApplicationType(metadata);
  accepted.token_endpoint_auth_method = chooseAuthMethod(metadata);
  if (accepted.token_endpoint_auth_method === 'private_key_jwt')
    Object.assign(accepted, pickKeyMetadata(metadata));
  const grantTypes = normalizeGrantTypes(accepted.grant_types);
  if (grantTypes) accepted.grant_types = grantTypes;
  if (isStringArray(accepted.response_types)) accepted.response_types = ['code'];
  if (isDeviceOnly(metadata))
    Object.assign(accepted, {
      grant_types: grantTypes?.filter((type) => type !== 'authorization_code'),
      redirect_uris: [],
      response_types: [],
    });
  const logoutUris = keepLogoutUris(metadata.post_logout_redirect_uris, accepted.application_type, schemes);
  if (logoutUris.length > 0) accepted.post_logout_redirect_uris = logoutUris;
  if (metadata.require_pushed_authorization_requests === true)
    accepted.require_pushed_authorization_requests = true;
  return accepted;
}
