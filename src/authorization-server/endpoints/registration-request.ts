import type { Context, Next } from 'koa';
import { checkRedirectUri, isLoopbackRedirect, isPrivateUseRedirect } from '../../oauth/redirect-uri.ts';
import { BodyRefused, readBody, replayBody } from './request-body.ts';

/** Limits of a registration (T-058, T-060, T-062). */
const limits = { bytes: 56 * 1024, levels: 8, redirectUris: 10, nameCharacters: 200 } as const;

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

const supportedGrantTypes = new Set(['authorization_code', 'refresh_token']);

const supportedAuthMethods = ['none', 'client_secret_basic', 'client_secret_post'];

/** Where clients name methods they could use as well; ChatGPT does (rpMetadataChoices of OpenID Connect RP Metadata Choices 1.0). */
const authMethodLists = ['token_endpoint_auth_methods_supported', 'token_endpoint_auth_methods'] as const;

type Metadata = Record<string, unknown>;

/** A refused registration (RFC 7591 section 3.2.2). */
interface Refusal {
  status: number;
  error: 'invalid_redirect_uri' | 'invalid_client_metadata' | 'invalid_request';
  description: string;
}

function checkRedirectUris(metadata: Metadata): Refusal | undefined {
  const refuse = (description: string): Refusal => ({
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
    if (fault) return refuse(`redirect_uris[${index}] is refused: ${fault.replaceAll('_', ' ')}`);
  }
  return undefined;
}

function checkName(metadata: Metadata): Refusal | undefined {
  const name = metadata.client_name;
  if (name === undefined || (typeof name === 'string' && name.length <= limits.nameCharacters))
    return undefined;
  return {
    status: 400,
    error: 'invalid_client_metadata',
    description: `client_name must be a string of at most ${limits.nameCharacters} characters`,
  };
}

/** Members that are null or empty say nothing; several clients send all they know of (RFC 7591 section 2: all optional). */
function dropEmpty(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null && value !== ''));
}

/**
 * The authentication method of a registration. A client that prefers one we do not have, holds no keys for it, and
 * names `none` among those it could use, is a public client (RFC 7591 sections 2 and 3.2.1).
 */
function chooseAuthMethod(metadata: Metadata): unknown {
  const asked = metadata.token_endpoint_auth_method ?? 'none';
  if (typeof asked !== 'string' || supportedAuthMethods.includes(asked)) return asked;
  const hasKeys = metadata.jwks !== undefined || metadata.jwks_uri !== undefined;
  const others = authMethodLists.flatMap((list) => metadata[list] ?? []);
  return !hasKeys && others.includes('none') ? 'none' : asked;
}

function checkAuthMethod(metadata: Metadata): Refusal | undefined {
  const method = chooseAuthMethod(metadata);
  if (typeof method === 'string' && supportedAuthMethods.includes(method)) return undefined;
  return {
    status: 400,
    error: 'invalid_client_metadata',
    description: `token_endpoint_auth_method must be one of ${supportedAuthMethods.join(', ')}`,
  };
}

/**
 * The `application_type` under which the engine takes the redirect URIs: `native` for apps, whose loopback ports may
 * differ, `web` for sites and for https on loopback, which the engine refuses to native clients.
 */
function inferApplicationType(uris: readonly string[]): 'native' | 'web' {
  if (uris.some(isPrivateUseRedirect)) return 'native';
  const loopback = uris.filter(isLoopbackRedirect);
  const plain = loopback.filter((uri) => URL.parse(uri)?.protocol === 'http:');
  return plain.length > 0 && plain.length === loopback.length ? 'native' : 'web';
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/**
 * Brings a registration into the form the engine takes: only members a client may set; `application_type` inferred
 * from the redirect URIs where it is missing or does not fit them; a public client where no authentication is named;
 * grant types reduced to those we have. RFC 7591 section 2 lets a server replace what a client asked for.
 * @param metadata what the client sent, redirect URIs already checked
 */
export function normalizeRegistration(metadata: Metadata): Metadata {
  const accepted: Metadata = {};
  for (const member of acceptedMembers)
    if (Object.hasOwn(metadata, member)) accepted[member] = metadata[member];
  accepted.application_type = inferApplicationType(accepted.redirect_uris as string[]);
  accepted.token_endpoint_auth_method = chooseAuthMethod(metadata);
  if (isStringArray(accepted.grant_types)) {
    const kept = accepted.grant_types.filter((type) => supportedGrantTypes.has(type));
    accepted.grant_types = kept.includes('authorization_code') ? kept : ['authorization_code', ...kept];
  }
  if (isStringArray(accepted.response_types)) accepted.response_types = ['code'];
  return accepted;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((entry) => isDeeper(entry, levels - 1));
}

function parseMetadata(body: Buffer): { metadata: Metadata } | { refusal: Refusal } {
  const refuse = (description: string) => ({
    refusal: { status: 400, error: 'invalid_client_metadata', description } as const,
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return refuse('the body must be JSON in UTF-8');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return refuse('the body must be a JSON object');
  if (isDeeper(parsed, limits.levels)) return refuse('the body is nested too deeply');
  return { metadata: dropEmpty(parsed as Metadata) };
}

/**
 * Middleware in front of the engine's registration endpoint: media type, size, JSON, redirect URIs, name, authentication method, then the
 * normal form (RFC 7591 section 3.1).
 */
export async function prepareRegistration(ctx: Context, next: Next): Promise<void> {
  const answer = ({ status, error, description }: Refusal): void => {
    ctx.status = status;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { error, error_description: description };
  };
  if (!ctx.is('application/json'))
    return answer({
      status: 415,
      error: 'invalid_request',
      description: 'send the client metadata as application/json',
    });
  let body: Buffer;
  try {
    body = await readBody(ctx, limits.bytes);
  } catch (error) {
    if (!(error instanceof BodyRefused)) throw error;
    return answer({ status: error.status, error: 'invalid_request', description: error.message });
  }
  const parsed = parseMetadata(body);
  if ('refusal' in parsed) return answer(parsed.refusal);
  const refusal =
    checkRedirectUris(parsed.metadata) ?? checkName(parsed.metadata) ?? checkAuthMethod(parsed.metadata);
  if (refusal) return answer(refusal);
  replayBody(ctx, Buffer.from(JSON.stringify(normalizeRegistration(parsed.metadata))));
  await next();
}
