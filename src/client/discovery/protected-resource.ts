import type { ProtectedResourceMetadata } from '../../oauth/metadata.ts';
import { canonicalResource, resourceCovers } from '../../oauth/resource-indicator.ts';
import { protectedResourceMetadataUrls } from '../../oauth/well-known.ts';
import { ClientError } from '../client-error.ts';
import { describeDifference, quote } from '../quote.ts';
import { requireUrl } from '../url-policy.ts';
import {
  askPlace,
  type DiscoveryWalk,
  markRefused,
  noteLaterPlace,
  noteSlip,
  readStrings,
  refuseDocument,
  type UnusablePlace,
} from './well-known.ts';

/** Protected resource metadata that passed the checks for an MCP server. */
export interface UsableProtectedResource extends ProtectedResourceMetadata {
  authorization_servers: string[];
}

/**
 * Checks protected resource metadata against the URL of the MCP server.
 * @param document the content of the well-known URL
 * @param server URL of the MCP server
 * @returns the metadata, or the reason why it must not be used
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
      why: `The metadata is for another server: ${describeDifference(server, resource)}. Check the URL. If it is right, the operator of the server has to publish it as "resource".`,
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
 * Returns the metadata URL of a challenge if it may be fetched: a URL on the server's own origin, or a
 * relative one.
 * @param challenged `resource_metadata` of the challenge
 * @returns the URL, or why it is not fetched; neither if it is empty
 * @see RFC 9728 sections 5.1 and 7.7 (T-185, FA-24)
 */
function challengedPlace(walk: DiscoveryWalk, challenged: string): { place?: string; why?: string } {
  const unused = (why: string): { why: string } => {
    noteSlip(walk, {
      tolerance: 'challengeMetadata',
      because: `resource_metadata ${why}; the well-known places are asked`,
    });
    return { why: `a challenge whose resource_metadata ${why}, and is not fetched` };
  };
  const { origin } = new URL(walk.server);
  const relative = /^[\w.~/-]+$/.test(challenged) ? URL.parse(challenged, walk.server) : null;
  if (relative?.origin === origin) {
    noteSlip(walk, { tolerance: 'challengeMetadata', because: 'resource_metadata is a relative URL' });
    return { place: relative.href };
  }
  if (challenged === '') {
    unused('is empty');
    return {};
  }
  if (!URL.canParse(challenged)) return unused(`is no URL, ${quote(challenged)}`);
  try {
    const place = requireUrl(challenged, 'The resource_metadata of the challenge', walk.rules);
    if (place.origin === origin) return { place: place.href };
    return unused(`is on another origin, ${quote(challenged)}`);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return unused(`cannot be used, ${quote(challenged)}`);
  }
}

/** The result of a search for protected resource metadata. */
export interface FoundProtectedResource {
  /** Undefined if no URL has usable metadata. */
  metadata?: UsableProtectedResource;
  /** Every URL that was fetched, in order. */
  asked: readonly string[];
  /** URLs that may have metadata, but are not usable. */
  unusable: readonly UnusablePlace[];
}

/**
 * Finds protected resource metadata: at the URL of the challenge, else path-inserted, else at the root. The
 * next URL is fetched if the previous one had no readable document.
 * @param challenged `resource_metadata` of the challenge
 * @throws ClientError `resource_mismatch` for metadata of another server
 * @see RFC 9728 sections 3.1, 5.1 and 7.7 (A3-04, A3-05, T-185)
 */
export async function findProtectedResource(
  walk: DiscoveryWalk,
  challenged: string | undefined,
): Promise<FoundProtectedResource> {
  const { place: named, why } = challenged === undefined ? {} : challengedPlace(walk, challenged);
  const wellKnown = protectedResourceMetadataUrls(walk.server);
  const asked = [...new Set(named === undefined ? wellKnown : [named, ...wellKnown])];
  const unusable: UnusablePlace[] =
    why === undefined ? [] : [{ url: walk.server, kind: 'unusable', reason: 'bad_url', why }];
  for (const url of asked) {
    const place = await askPlace(walk, 'protected_resource', url);
    if (place.kind === 'unusable') unusable.push({ url, ...place });
    if (place.kind !== 'document') continue;
    const verdict = checkProtectedResource(place.members, walk.server);
    if (verdict.kind === 'refused' && verdict.reason === 'resource_mismatch')
      return refuseDocument(walk, verdict.reason, verdict.why, verdict.resource);
    if (verdict.kind === 'refused') {
      markRefused(walk, verdict.why);
      unusable.push({
        url,
        kind: 'unusable',
        reason: verdict.reason,
        why: `a document: ${verdict.why.slice(0, -1)}`,
      });
      continue;
    }
    noteLaterPlace(walk, unusable);
    return { metadata: verdict.metadata, asked, unusable };
  }
  return { asked, unusable };
}
