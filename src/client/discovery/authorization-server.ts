import { authorizationBaseUrl, fallbackEndpoints } from '../../oauth/default-endpoints.ts';
import type { AuthorizationServerMetadata } from '../../oauth/metadata.ts';
import { authorizationServerMetadataUrls } from '../../oauth/well-known.ts';
import { ClientError } from '../client-error.ts';
import { describeDifference, quote } from '../quote.ts';
import { requireUrl } from '../url-policy.ts';
import { type DiscoveryWalk, fetchDocument, readStrings, refuseDocument } from './discovery-walk.ts';

const listMembers = [
  'scopes_supported',
  'response_types_supported',
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'code_challenge_methods_supported',
  'dpop_signing_alg_values_supported',
] as const;

type ListMember = (typeof listMembers)[number];

/** Authorization server metadata that passed every check and has what a login needs. */
export type UsableAuthorizationServer = {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint?: string;
  revocation_endpoint?: string;
  device_authorization_endpoint?: string;
  authorization_response_iss_parameter_supported?: boolean;
  client_id_metadata_document_supported?: boolean;
} & Pick<AuthorizationServerMetadata, ListMember>;

/** Endpoints that receive codes, tokens or secrets. */
const secretEndpoints = [
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'device_authorization_endpoint',
] as const;

/**
 * Requires that an authorization server protects its codes.
 * @param as its metadata
 * @throws ClientError `no_pkce`
 * @see MCP authorization "Authorization Code Protection"; RFC 7636 (A4-06, T-183)
 */
export function requirePkce(
  as: Pick<UsableAuthorizationServer, 'issuer' | 'code_challenge_methods_supported'>,
): void {
  if (as.code_challenge_methods_supported?.includes('S256')) return;
  throw new ClientError(
    'no_pkce',
    `The authorization server ${as.issuer} does not say that it supports PKCE with S256 (code_challenge_methods_supported), so a login is not safe.`,
  );
}

/**
 * Checks a metadata document whose issuer is already confirmed.
 * @param walk rules for URLs, origins on which endpoints may stand besides the issuer's, and whether PKCE is needed
 * @param document the document
 * @param issuer its issuer
 * @returns the members this client reads, in their right types
 * @throws ClientError `no_pkce`, `bad_url`, `foreign_endpoint`
 * @see RFC 8414 section 2; MCP authorization "Authorization Code Protection" (A4-06, T-182, T-183)
 */
export function requireUsableAuthorizationServer(
  walk: Pick<DiscoveryWalk, 'rules' | 'allowedOrigins' | 'withoutCode'>,
  document: Record<string, unknown>,
  issuer: string,
): UsableAuthorizationServer {
  const lists = Object.fromEntries(
    listMembers.flatMap((member) => {
      const values = readStrings(document[member]);
      return values === undefined ? [] : [[member, values]];
    }),
  ) as Pick<AuthorizationServerMetadata, ListMember>;
  if (walk.withoutCode !== true) requirePkce({ issuer, ...lists });
  const trusted = [new URL(issuer).origin, ...walk.allowedOrigins];
  const endpoint = (member: string): string =>
    requireUrl(document[member], `The ${member} of ${issuer}`, walk.rules).href;
  const optional: Partial<Record<(typeof secretEndpoints)[number], string>> = {};
  for (const member of secretEndpoints) {
    if (document[member] === undefined && member !== 'token_endpoint') continue;
    const url = endpoint(member);
    const { origin } = new URL(url);
    if (!trusted.includes(origin))
      throw new ClientError(
        'foreign_endpoint',
        `The ${member} of ${issuer} is on another origin, ${origin}. Allow that origin only if you know that it belongs to this authorization server.`,
      );
    optional[member] = url;
  }
  return {
    issuer,
    ...lists,
    ...optional,
    authorization_endpoint: endpoint('authorization_endpoint'),
    token_endpoint: endpoint('token_endpoint'),
    authorization_response_iss_parameter_supported:
      document.authorization_response_iss_parameter_supported === true,
    client_id_metadata_document_supported: document.client_id_metadata_document_supported === true,
  };
}

function usable(
  walk: DiscoveryWalk,
  document: Record<string, unknown>,
  issuer: string,
): UsableAuthorizationServer {
  try {
    return requireUsableAuthorizationServer(walk, document, issuer);
  } catch (error) {
    if (error instanceof ClientError) return refuseDocument(walk, error.reason, error.message);
    throw error;
  }
}

/**
 * Finds the metadata of an issuer, in the order of the specification. The first document decides.
 * @param issuer the issuer identifier that the metadata must name, byte for byte
 * @throws ClientError `no_metadata`, `issuer_mismatch`, and those of {@link requireUsableAuthorizationServer}
 * @see RFC 8414 section 3.3; MCP authorization "Authorization Server Metadata Discovery" (A4-02, A4-03, A4-04)
 */
export async function findAuthorizationServer(
  walk: DiscoveryWalk,
  issuer: string,
): Promise<UsableAuthorizationServer> {
  const { search } = requireUrl(issuer, 'The authorization server', walk.rules);
  if (search !== '')
    throw new ClientError(
      'bad_metadata',
      `The issuer ${quote(issuer)} has a query, which no issuer may have.`,
    );
  for (const place of authorizationServerMetadataUrls(issuer)) {
    const document = await fetchDocument(walk, 'authorization_server', place);
    if (document === undefined) continue;
    const named = document.issuer;
    if (named !== issuer)
      return refuseDocument(
        walk,
        'issuer_mismatch',
        `The metadata of the authorization server names another issuer: ${describeDifference(issuer, String(named))}.`,
      );
    return usable(walk, document, issuer);
  }
  throw new ClientError(
    'no_metadata',
    `The authorization server ${issuer} publishes no metadata. Its well-known documents are missing.`,
  );
}

/**
 * Finds the authorization server of a 2025-03-26 server: metadata at the origin, else the default endpoints there.
 * A document that names another issuer is a copy (A2-03); that issuer is then asked itself.
 * @see MCP authorization 2025-03-26 sections 2.3.2 and 2.3.3 (A2-01, A2-02, A2-05, A2-08)
 */
export async function findAuthorizationServerAtOrigin(
  walk: DiscoveryWalk,
): Promise<{ model: 'origin_metadata' | 'default_endpoints'; metadata: UsableAuthorizationServer }> {
  const origin = authorizationBaseUrl(walk.server);
  for (const place of authorizationServerMetadataUrls(origin)) {
    const document = await fetchDocument(walk, 'authorization_server', place);
    if (document === undefined) continue;
    if (document.issuer === origin)
      return { model: 'origin_metadata', metadata: usable(walk, document, origin) };
    const step = walk.trace.at(-1);
    if (step) {
      step.verdict = 'refused';
      step.reason = `it names the issuer ${quote(document.issuer)}, which is asked itself`;
    }
    return {
      model: 'origin_metadata',
      metadata: await findAuthorizationServer(walk, String(document.issuer)),
    };
  }
  const endpoints = fallbackEndpoints(walk.server);
  walk.trace.push({
    purpose: 'default_endpoints',
    method: 'none',
    url: origin,
    verdict: 'taken',
    reason: 'no metadata anywhere: /authorize, /token and /register of the origin',
  });
  return {
    model: 'default_endpoints',
    metadata: { issuer: origin, ...endpoints, code_challenge_methods_supported: ['S256'] },
  };
}
