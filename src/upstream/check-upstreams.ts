import type { UpstreamSettings } from './upstream-settings.ts';

/** A resource that upstreams may be for. */
export interface KnownResource {
  resource: string;
  scopes: Readonly<Record<string, string>>;
}

/**
 * Looks whether what the operator set about upstreams fits the installation.
 * @returns every problem, each beginning with the setting it is about
 */
export function checkUpstreams(
  upstreams: Readonly<Record<string, Pick<UpstreamSettings, 'resources' | 'grantScopes'>>>,
  known: readonly KnownResource[],
): string[] {
  const knownResources = known.map(({ resource }) => resource);
  const knownScopes = [...new Set(known.flatMap(({ scopes }) => Object.keys(scopes)))];
  const claimed = Object.entries(upstreams).flatMap(([name, { resources }]) =>
    resources.map((resource) => ({ name, resource })),
  );
  return Object.entries(upstreams).flatMap(([name, { resources, grantScopes = [] }]) =>
    [
      ...resources
        .filter((resource) => !knownResources.includes(resource))
        .map((resource) => `resources: there is no ${resource} here; there are ${knownResources.join(', ')}`),
      ...resources.flatMap((resource) => {
        const other = claimed.find((claim) => claim.resource === resource)?.name;
        return other === name ? [] : [`resources: ${resource} wants ${other} already`];
      }),
      ...grantScopes.flatMap(({ scopes }, index) =>
        scopes
          .filter((scope) => !knownScopes.includes(scope))
          .map(
            (scope) =>
              `grantScopes.${index}.scopes: there is no ${scope} here; there are ${knownScopes.join(', ')}`,
          ),
      ),
    ].map((problem) => `upstreams.${name}.${problem}`),
  );
}
