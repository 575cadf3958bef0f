import { isSameIssuer } from '../../oauth/issuer.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { ClientError, DiscoveryError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { isLocalAddress } from '../local-address.ts';
import { type KeptChoices, keptChoices } from '../session/login-choices.ts';
import type { FormerLogin } from '../stores/credential-store.ts';
import { requireUrl } from '../url-policy.ts';
import {
  findAuthorizationServer,
  findAuthorizationServerAtOrigin,
  type UsableAuthorizationServer,
} from './authorization-server.ts';
import type { DiscoveryStep } from './discovery-step.ts';
import { type DiscoveryWalk, noteSlip } from './discovery-walk.ts';
import { askForChallenge, type FirstChallenge, readFirstChallenge } from './first-challenge.ts';
import { findProtectedResource, type UsableProtectedResource } from './protected-resource.ts';

/** What discovery found out about an MCP server. */
export interface DiscoveredServer extends KeptChoices {
  /** Canonical URL of the MCP server. */
  server: string;
  /** Resource indicator to send: as published, else the canonical URL (RFC 8707 section 2, A7-01). */
  resource: string;
  /** How the authorization server was found. */
  model: 'protected_resource' | 'origin_metadata' | 'default_endpoints';
  authorizationServer: UsableAuthorizationServer;
  protectedResource?: UsableProtectedResource;
  /** Scopes of the first challenge. */
  challengedScopes?: string[];
  /** True where the server takes only tokens bound to a key of the client (RFC 9449, RFC 9728 section 2). */
  dpopRequired?: true;
  trace: readonly DiscoveryStep[];
}

/** Choices of the caller. */
export interface DiscoveryOptions {
  /** Chooses among several authorization servers; the first unless told (RFC 9728 section 7.6, A3-08). */
  chooseAuthorizationServer?: ((issuers: readonly string[]) => string | undefined) | undefined;
  /**
   * Issuer of the only authorization server that may be asked, where that is known before; it is the one chosen among
   * several. Nothing is sent to another one that the MCP server names, which may have changed hands (T-184).
   */
  issuer?: string | undefined;
  /** Origins, besides the issuer's, on which token, registration and revocation endpoints may stand. */
  allowedEndpointOrigins?: readonly string[] | undefined;
  /** True where no authorization code will be asked for: the authorization server then needs no PKCE. */
  withoutCode?: boolean | undefined;
  /**
   * True leaves the `resource` parameter out of every request, for an authorization server that refuses it. Its tokens
   * may then be good for more than this MCP server, which has to check their audience all the more (CL-5).
   */
  withoutResource?: boolean | undefined;
  /** The login in whose place this one comes: what was chosen at it is chosen again, at the same authorization server. */
  before?: FormerLogin | undefined;
  /** `WWW-Authenticate` with which the server has refused a request already; it is then not asked for one. */
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

/** A server that answers without a token, or one that refuses in a way that says nothing about tokens. */
function notProtected(url: string, instead: string | undefined): ClientError {
  return new ClientError(
    'not_protected',
    instead === undefined
      ? `${url} asks for no token: it needs no login.`
      : `${url} does not ask for a token: it answers ${instead}, and 401 alone begins a login. Look at the URL, and at what stands in front of the server.`,
  );
}

/**
 * Walks from the URL of an MCP server to the authorization server that issues its tokens: 401 challenge, protected
 * resource metadata, authorization server metadata; where there is no protected resource metadata, the 2025-03-26 way.
 * No token, code or secret is sent.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options choices of the caller
 * @throws DiscoveryError with the trace up to the failure; its reason is `not_protected` for a server that asks for no
 *   token, `authorization_server_changed` for one that names another authorization server than may be asked
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
        ...keptChoices(options, authorizationServer),
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
    const choices = keptChoices(options, metadata);
    return { ...found, ...choices, model, resource: server, authorizationServer: metadata };
  } catch (error) {
    if (error instanceof ClientError) throw new DiscoveryError(error, trace);
    throw error;
  }
}
