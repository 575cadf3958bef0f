import { findUnusableClients } from '../authorization-server/administration/unusable-clients.ts';
import type { Settings } from '../options.ts';
import { completeScopes, findRouteMethodProblems } from '../protected-server.ts';
import { findOwnResources } from '../settings/resources.ts';
import { pathOfRoute } from '../settings/routes.ts';
import { findMisfits } from './operator-rules.ts';
import { composeResources, type OwnServerResources, ownResources } from './resources.ts';

/** The settings that speak of protected resources and scopes, and those that say which there are. */
type RuledSettings = Pick<
  Settings,
  'routes' | 'resources' | 'tokens' | 'clients' | 'trustedIssuers' | 'tokenExchange' | 'upstreams'
>;

/** What a server at a path below the public URL is served as. */
function serverAt(
  publicUrl: string,
  path: string,
  scopes: Parameters<typeof completeScopes>[0],
): OwnServerResources {
  return { own: ownResources(`${publicUrl}${path}`), server: { name: path, ...completeScopes(scopes) } };
}

/**
 * Finds what settings say of protected resources and scopes that a server would not start with. Where the public URL itself
 * has no route, a server as of `gatehouse protect` counts as there, unless the settings say that another one is; without any
 * route, which there are is known at the start alone, and clients are looked at by themselves.
 * @param publicUrl where the server is reached
 * @returns a sentence a problem, with the setting it is about
 */
export function findUnfitRules(settings: RuledSettings, publicUrl: string): string[] {
  const routes = Object.entries(settings.routes);
  if (routes.length === 0) return findUnusableClients(settings);
  const methods = routes.flatMap(([name, route]) => findRouteMethodProblems(`routes.${name}`, route));
  const served = routes.map(([name, route]) => serverAt(publicUrl, pathOfRoute(name, route), route));
  const own = served.flatMap((each) => Object.values(each.own));
  const elsewhere = settings.resources.filter(({ resource }) => !own.includes(resource));
  const taken = [...own, ...elsewhere.map(({ resource }) => resource)];
  const root = serverAt(publicUrl, '', {});
  const atRoot = Object.values(root.own).some((resource) => taken.includes(resource)) ? [] : [root];
  return [
    ...methods,
    ...findOwnResources(settings.resources, own),
    ...findMisfits(settings, composeResources({ ...settings, resources: elsewhere }, [...atRoot, ...served])),
  ];
}
