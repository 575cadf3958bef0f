import { proofAlgorithms } from '../oauth/dpop.ts';
import type { ProtectedResourceMetadata } from '../oauth/metadata.ts';

/** What a protected resource says about itself. */
export interface ProtectedResourceDescription {
  /** Its canonical URL. */
  resource: string;
  /** Issuers whose tokens it takes, at least one (A3-01). */
  authorizationServers: readonly string[];
  /** Scopes a client should start with, not all there are (A3-11). */
  scopesSupported: readonly string[];
  /** What people call it. */
  name: string;
  /** A page for developers. */
  documentationUrl?: string;
  /** Whether it takes tokens that are bound to a key, or no others; undefined where it does not (RFC 9449). */
  dpop?: { required: boolean };
}

/**
 * Builds the metadata document of a protected resource. `offline_access` is no scope of a resource and never stands
 * in it (A3-10).
 * @throws TypeError for a resource without an authorization server: no client could get a token
 * @see RFC 9728 section 2
 */
export function buildProtectedResource(description: ProtectedResourceDescription): ProtectedResourceMetadata {
  const { resource, authorizationServers, scopesSupported, name, documentationUrl, dpop } = description;
  if (authorizationServers.length === 0)
    throw new TypeError('a protected resource needs at least one authorization server');
  return {
    resource,
    authorization_servers: [...authorizationServers],
    scopes_supported: scopesSupported.filter((scope) => scope !== 'offline_access'),
    bearer_methods_supported: ['header'],
    resource_name: name,
    ...(dpop && { dpop_signing_alg_values_supported: [...proofAlgorithms] }),
    ...(dpop?.required && { dpop_bound_access_tokens_required: true }),
    ...(documentationUrl === undefined ? {} : { resource_documentation: documentationUrl }),
  };
}
