import type { ProtectedResourceMetadata } from '../../oauth/metadata.ts';
import { canonicalResource, resourceCovers } from '../../oauth/resource-indicator.ts';
import { protectedResourceMetadataUrls } from '../../oauth/well-known.ts';
import { ClientError } from '../client-error.ts';
import { describeDifference, quote } from '../quote.ts';
import { requireUrl } from '../url-policy.ts';
import { type DiscoveryWalk, fetchDocument, readStrings, refuseDocument } from './discovery-walk.ts';

/** Protected resource metadata that may be used for the server asked about. */
export interface UsableProtectedResource extends ProtectedResourceMetadata {
  authorization_servers: string[];
}

/**
 * Checks protected resource metadata against the URL being called.
 * @param document what the well-known place holds
 * @param server URL of the MCP server
 * @returns the metadata, or why it must not be used
 * @see RFC 9728 sections 2 and 3.3 (A3-07, T-185)
 */
export function checkProtectedResource(
  document: Record<string, unknown>,
  server: string,
):
  | { kind: 'usable'; metadata: UsableProtectedResource }
  | { kind: 'refused'; reason: 'bad_metadata' | 'resource_mismatch'; why: string; resource?: string } {
  const { resource } = document;
  if (typeof resource !== 'string' || canonicalResource(resource) === undefined)
    return {
      kind: 'refused',
      reason: 'bad_metadata',
      why: `The "resource" of the metadata, ${quote(resource)}, is no http(s) URL.`,
    };
  if (!resourceCovers(resource, server))
    return {
      kind: 'refused',
      reason: 'resource_mismatch',
      why: `The metadata is for another server: ${describeDifference(server, resource)}. Look at the URL that was given; where it is right, whoever runs the server has to publish it as "resource".`,
      resource,
    };
  const servers = readStrings(document.authorization_servers) ?? [];
  if (servers.length === 0)
    return {
      kind: 'refused',
      reason: 'bad_metadata',
      why: 'The protected resource metadata names no authorization server. Publish "authorization_servers".',
    };
  const scopes = readStrings(document.scopes_supported);
  const name = document.resource_name;
  return {
    kind: 'usable',
    metadata: {
      resource,
      authorization_servers: servers,
      ...(scopes === undefined ? {} : { scopes_supported: scopes }),
      ...(typeof name === 'string' ? { resource_name: name } : {}),
      ...(document.dpop_bound_access_tokens_required === true
        ? { dpop_bound_access_tokens_required: true }
        : {}),
    },
  };
}

/**
 * Finds protected resource metadata: where the challenge says, else path-inserted, else at the root. The next place is
 * asked only where the one before held no document.
 * @param challenged `resource_metadata` of the challenge
 * @returns the metadata, or undefined where no place holds any
 * @throws ClientError `bad_url` for a challenge that leads to another origin; `resource_mismatch`; `bad_metadata`
 * @see RFC 9728 sections 3.1, 5.1 and 7.7 (A3-04, A3-05, T-185)
 */
export async function findProtectedResource(
  walk: DiscoveryWalk,
  challenged: string | undefined,
): Promise<UsableProtectedResource | undefined> {
  const places = protectedResourceMetadataUrls(walk.server);
  if (challenged !== undefined) {
    const place = requireUrl(challenged, 'The resource_metadata of the challenge', walk.rules);
    if (place.origin !== new URL(walk.server).origin)
      throw new ClientError(
        'bad_url',
        `The challenge of ${walk.server} names metadata on another origin, ${quote(challenged)}; it is not fetched.`,
      );
    places.unshift(place.href);
  }
  for (const place of new Set(places)) {
    const document = await fetchDocument(walk, 'protected_resource', place);
    if (document === undefined) continue;
    const verdict = checkProtectedResource(document, walk.server);
    if (verdict.kind === 'refused')
      return refuseDocument(walk, verdict.reason, verdict.why, verdict.resource);
    return verdict.metadata;
  }
  return undefined;
}
