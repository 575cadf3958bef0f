import { isSameIssuer } from '../../oauth/issuer.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { ClientError, DiscoveryError, type DiscoveryStep } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type InheritedChoices, inheritedChoices } from '../session/former-login.ts';
import type { FormerLogin } from '../stores/credential-store.ts';
import { isLocalAddress, requireUrl } from '../url-policy.ts';
import {
  findAuthorizationServer,
  findAuthorizationServerAtOrigin,
  type UsableAuthorizationServer,
} from './authorization-server.ts';
import { askForChallenge, type FirstChallenge, readFirstChallenge } from './first-challenge.ts';
import { findProtectedResource, type UsableProtectedResource } from './protected-resource.ts';
import { type DiscoveryWalk, noteSlip } from './well-known.ts';

/** The result of discovery for an MCP server. */
export interface DiscoveredServer extends InheritedChoices {
  /** Canonical URL of the MCP server. */
  server: string;
  /** Resource indicator to send: as published, else the canonical URL (RFC 8707 section 2, A7-01). */
  resource: string;
  /** The source of the authorization server's metadata. */
  model: 'protected_resource' | 'origin_metadata' | 'default_endpoints';
  authorizationServer: UsableAuthorizationServer;
  protectedResource?: UsableProtectedResource;
  /** Scopes of the first challenge. */
  challengedScopes?: string[];
  /** Set if the server accepts only tokens bound to a key of the client (RFC 9449, RFC 9728 section 2). */
  dpopRequired?: true;
  trace: readonly DiscoveryStep[];
}

/** Options of {@link discover}. */
export interface DiscoveryOptions {
  /** Chooses among several authorization servers (default: the first; RFC 9728 section 7.6, A3-08). */
  chooseAuthorizationServer?: ((issuers: readonly string[]) => string | undefined) | undefined;
  /**
   * Issuer of the only authorization server to use, if it is known in advance. It is chosen among several.
   * Nothing is sent to another one that the MCP server names, because the MCP server may have a new owner
   * (T-184).
   */
  issuer?: string | undefined;
  /** Origins, besides the issuer's, that may host token, registration and revocation endpoints. */
  allowedEndpointOrigins?: readonly string[] | undefined;
  /** True if no authorization code will be requested: the authorization server then needs no PKCE. */
  withoutCode?: boolean | undefined;
  /**
   * True omits the `resource` parameter from every request, for an authorization server that rejects it. Its
   * tokens may then be valid beyond this MCP server, which has to check their audience all the more (CL-5).
   */
  withoutResource?: boolean | undefined;
  /** The login that this one replaces: its choices are repeated at the same authorization server. */
  before?: FormerLogin | undefined;
  /** `WWW-Authenticate` of an earlier rejection by the server. No further request is then made for it. */
  challenge?: string | null | undefined;
}

async function obtainChallenge(
  walk: DiscoveryWalk,
  known: string | null | undefined,
): Promise<FirstChallenge> {
  if (known === undefined) return askForChallenge(walk);
  walk.trace.push({
    purpose: 'challenge',
    method: 'none',
    url: walk.server,
    verdict: 'taken',
    reason: 'the server has asked for a token already',
  });
  return { protected: true, ...readFirstChallenge(known, (slip) => noteSlip(walk, slip)) };
}

/** @throws ClientError `authorization_server_changed` */
function requireIssuer(expected: string | undefined, server: string, { issuer }: { issuer: string }): void {
  if (expected === undefined || isSameIssuer(expected, issuer)) return;
  throw new ClientError(
    'authorization_server_changed',
    `${server} names the authorization server ${issuer}, and the login is for ${expected} alone. Nothing was sent there.`,
  );
}

/**
 * The error for a server that accepts requests without a token, or rejects them with a status that does not
 * concern tokens.
 */
function notProtected(url: string, instead: string | undefined): ClientError {
  return new ClientError(
    'not_protected',
    instead === undefined
      ? `${url} asks for no token: it needs no login.`
      : `${url} does not ask for a token: it answers ${instead}, and 401 alone begins a login. Look at the URL, and at what stands in front of the server.`,
  );
}

/**
 * Discovers the authorization server of an MCP server, from its URL: 401 challenge, protected resource
 * metadata, authorization server metadata; without protected resource metadata, the way of the revision
 * 2025-03-26. No token, code or secret is sent.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @throws DiscoveryError with the trace up to the failure; its reason is `not_protected` for a server that
 *   requires no token, and `authorization_server_changed` for one that names another authorization server
 *   than allowed
 * @see MCP authorization "Authorization Flow"; RFC 9728; RFC 8414 (A2-08, A3-04, A3-05)
 */
export async function discover(
  context: ClientContext,
  url: string,
  options: DiscoveryOptions = {},
): Promise<DiscoveredServer> {
  const trace: DiscoveryStep[] = [];
  try {
    const { dangerouslyAllowHttp } = context;
    const target = requireUrl(URL.parse(url)?.href ?? url, 'The MCP server URL', { dangerouslyAllowHttp });
    const server = canonicalResource(target.href) ?? target.href;
    const walk: DiscoveryWalk = {
      context,
      server: target.href,
      rules: { dangerouslyAllowHttp, allowLocal: isLocalAddress(target.hostname) },
      trace,
      allowedOrigins: options.allowedEndpointOrigins ?? [],
      withoutCode: options.withoutCode,
      chooseAuthorizationServer:
        options.chooseAuthorizationServer ??
        ((issuers) => issuers.find((one) => isSameIssuer(options.issuer ?? '', one)) ?? issuers[0]),
    };
    const challenge = await obtainChallenge(walk, options.challenge);
    const found = {
      server,
      trace,
      ...(challenge.scopes === undefined ? {} : { challengedScopes: challenge.scopes }),
      ...(challenge.dpop ? { dpopRequired: true as const } : {}),
    };
    const { metadata: protectedResource, unusable } = await findProtectedResource(
      walk,
      challenge.resourceMetadata,
    );
    if (protectedResource !== undefined) {
      const issuer = walk.chooseAuthorizationServer(protectedResource.authorization_servers);
      if (issuer === undefined || !protectedResource.authorization_servers.includes(issuer))
        throw new ClientError(
          'bad_metadata',
          'None of the authorization servers of the metadata was chosen.',
        );
      const authorizationServer = await findAuthorizationServer(walk, issuer);
      requireIssuer(options.issuer, server, authorizationServer);
      const { resource, dpop_bound_access_tokens_required: bound } = protectedResource;
      return {
        ...found,
        ...inheritedChoices(options, authorizationServer),
        ...(bound === true ? { dpopRequired: bound } : {}),
        model: 'protected_resource',
        resource,
        protectedResource,
        authorizationServer,
      };
    }
    if (!challenge.protected) throw notProtected(url, challenge.instead);
    const { model, metadata } = await findAuthorizationServerAtOrigin(walk, unusable);
    requireIssuer(options.issuer, server, metadata);
    const choices = inheritedChoices(options, metadata);
    return { ...found, ...choices, model, resource: server, authorizationServer: metadata };
  } catch (error) {
    if (error instanceof ClientError) throw new DiscoveryError(error, trace);
    throw error;
  }
}
