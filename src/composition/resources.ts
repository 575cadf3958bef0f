import { paths } from '../app/paths.ts';
import type { ProtectedResource } from '../authorization-server/index.ts';
import type { Settings } from '../options.ts';
import type { NormalizedServer } from '../protected-server.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { completeResources, findOwnResources } from '../settings/resources.ts';

/** What a family of transports is served as: a protected resource with a URL of its own. */
export type OwnResource = 'mcp' | 'sse' | 'rest';

/**
 * The identifiers of the protected resources a server is (RFC 8707 section 2).
 * @param place the public URL, with the path of its route behind it
 */
export function ownResources(place: string): Record<OwnResource, string> {
  return { mcp: `${place}${paths.mcp}`, sse: `${place}${paths.sse}`, rest: `${place}${paths.rest}` };
}

/** A server that is served here, and as what. */
export interface OwnServerResources {
  own: Record<OwnResource, string>;
  server: Pick<NormalizedServer, 'name' | 'scopes' | 'baselineScopes'>;
}

/**
 * All protected resources tokens are issued for: first those served here, then those that live elsewhere.
 * @param servers those served here
 * @throws SettingsRefused where one that is served here was set as living elsewhere
 */
export function composeResources(
  { resources, tokens }: Pick<Settings, 'resources' | 'tokens'>,
  servers: readonly OwnServerResources[],
): ProtectedResource[] {
  const misplaced = findOwnResources(
    resources,
    servers.flatMap(({ own }) => Object.values(own)),
  );
  if (misplaced.length > 0) throw new SettingsRefused(misplaced);
  const servedHere = servers.flatMap(({ own, server: { name, scopes, baselineScopes } }) =>
    Object.values(own).map((resource) => ({
      resource,
      name,
      scopes,
      baselineScopes,
      dpopRequired: tokens.dpop.required,
      accessTokenFormat: tokens.format,
    })),
  );
  return [...servedHere, ...completeResources(resources, tokens.dpop.required)];
}
