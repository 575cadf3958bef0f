import type { NoteSlip } from '../../oauth/foreign-json.ts';
import { isKnownEndpoint, isSameIssuer } from '../../oauth/issuer.ts';
import type { AuthorizationServerMetadata } from '../../oauth/metadata.ts';
import {
  authorizationBaseUrl,
  authorizationServerMetadataUrls,
  fallbackEndpoints,
} from '../../oauth/well-known.ts';
import { ClientError } from '../client-error.ts';
import { describeDifference, quote } from '../quote.ts';
import { requireUrl } from '../url-policy.ts';
import {
  askPlace,
  type DiscoveryWalk,
  describeAsked,
  markRefused,
  noteLaterPlace,
  noteSlip,
  readStrings,
  refuseDocument,
  type UnusablePlace,
  unusablePlaces,
} from './discovery-walk.ts';

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
  walk: Pick<DiscoveryWalk, 'rules' | 'allowedOrigins' | 'withoutCode'> & { note?: NoteSlip },
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
    const isKnown = !trusted.includes(origin) && isKnownEndpoint(issuer, url);
    if (isKnown) walk.note?.({ tolerance: 'providerEndpoints', because: `the ${member} is on ${origin}` });
    if (!isKnown && !trusted.includes(origin))
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
    return requireUsableAuthorizationServer(
      { ...walk, note: (slip) => noteSlip(walk, slip) },
      document,
      issuer,
    );
  } catch (error) {
    if (error instanceof ClientError) return refuseDocument(walk, error.reason, error.message);
    throw error;
  }
}

/** Asks a place for metadata that names its issuer. @param unusable gets the place if it may have some */
async function askForMetadata(
  walk: DiscoveryWalk,
  url: string,
  unusable: UnusablePlace[],
): Promise<Record<string, unknown> | undefined> {
  const place = await askPlace(walk, 'authorization_server', url);
  if (place.kind === 'document' && typeof place.members.issuer === 'string') return place.members;
  if (place.kind === 'unusable') unusable.push({ url, ...place });
  if (place.kind !== 'document') return undefined;
  const why = 'a document without "issuer"';
  markRefused(walk, why);
  unusable.push({ url, kind: 'unusable', reason: 'bad_metadata', why });
  return undefined;
}

/**
 * Finds the metadata of an issuer, in the order of the specification. The first document with an issuer decides.
 * @param issuer the issuer identifier that the metadata must name, but for one slash at its end
 * @returns the metadata, whose `issuer` is spelled as the metadata has it
 * @throws ClientError `no_metadata`, `server_error`, `issuer_mismatch`, and those of {@link requireUsableAuthorizationServer}
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
  const places = authorizationServerMetadataUrls(issuer);
  const unusable: UnusablePlace[] = [];
  for (const place of places) {
    const document = await askForMetadata(walk, place, unusable);
    if (document === undefined) continue;
    const named = document.issuer;
    if (!isSameIssuer(issuer, named, (slip) => noteSlip(walk, slip)))
      return refuseDocument(
        walk,
        'issuer_mismatch',
        `The metadata of the authorization server names another issuer: ${describeDifference(issuer, String(named))}.`,
      );
    noteLaterPlace(walk, unusable);
    return usable(walk, document, named);
  }
  if (unusable.length > 0)
    throw unusablePlaces(`The metadata of the authorization server ${issuer}`, unusable);
  throw new ClientError(
    'no_metadata',
    `The authorization server ${issuer} publishes no metadata. Its well-known documents are missing (${describeAsked(walk, places)}).`,
  );
}

/**
 * Finds the authorization server of a 2025-03-26 server: metadata at the origin, else the default endpoints there.
 * A document that names another issuer is a copy (A2-03); that issuer is then asked itself.
 * @param resourcePlaces places that may have protected resource metadata: the server need not be an old one, and nothing
 *   is assumed then that no document says
 * @throws ClientError `server_error` and others if a place may have metadata, and no place has
 * @see MCP authorization 2025-03-26 sections 2.3.2 and 2.3.3 (A2-01, A2-02, A2-05, A2-08)
 */
export async function findAuthorizationServerAtOrigin(
  walk: DiscoveryWalk,
  resourcePlaces: readonly UnusablePlace[] = [],
): Promise<{ model: 'origin_metadata' | 'default_endpoints'; metadata: UsableAuthorizationServer }> {
  const origin = authorizationBaseUrl(walk.server);
  const unusable: UnusablePlace[] = [...resourcePlaces];
  for (const place of authorizationServerMetadataUrls(origin)) {
    const document = await askForMetadata(walk, place, unusable);
    if (document === undefined) continue;
    if (resourcePlaces.length > 0)
      noteSlip(walk, {
        tolerance: 'originInstead',
        because: resourcePlaces
          .map(({ url, why }) => `${new URL(url).pathname} answered with ${why}`)
          .join('; '),
      });
    if (isSameIssuer(origin, document.issuer, (slip) => noteSlip(walk, slip)))
      return { model: 'origin_metadata', metadata: usable(walk, document, document.issuer) };
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
  if (unusable.length > 0) throw unusablePlaces(`The metadata of ${walk.server}`, unusable);
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
