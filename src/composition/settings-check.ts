import { findUnusableClients } from '../authorization-server/administration/unusable-clients.ts';
import { createLogger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import { completeScopes, findRouteMethodProblems } from '../protected-server.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { findOwnResources } from '../settings/resources.ts';
import { pathOfRoute } from '../settings/routes.ts';
import { resolveConfiguredRoutes } from './resolve-routes.ts';
import { composeResources, findMisfits, type OwnServerResources, ownResources } from './resources.ts';

/** The settings that define protected resources and scopes, and the settings that name them. */
type RuledSettings = Pick<
  Settings,
  'routes' | 'resources' | 'tokens' | 'calls' | 'clients' | 'trustedIssuers' | 'tokenExchange' | 'upstreams'
>;

/**
 * Finds settings about protected resources and scopes that stop a server from starting.
 *
 * If no route has the path of the public URL, a server as `gatehouse protect` adds it counts as present, unless
 * `resources` names one there. Without any route the resources are known only at the start, so only clients are checked.
 * @param publicUrl the public URL of the server
 * @returns one sentence for each problem, with the setting it is about
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

/** The server of a route, as far as its resources and scopes are concerned. */
function serverAt(
  publicUrl: string,
  path: string,
  scopes: Parameters<typeof completeScopes>[0],
): OwnServerResources {
  return { own: ownResources(`${publicUrl}${path}`), server: { name: path, ...completeScopes(scopes) } };
}

const never = (): never => {
  throw new Error('a route is never called while it is only checked');
};

/**
 * Finds routes that cannot be served in this environment, because a variable is not set or a file cannot be read. Starts
 * no process and sends no request.
 * @param environment environment variables of this process
 * @returns one sentence for each problem, with the setting it is about
 */
export async function findUnusableRoutes(
  settings: Pick<Settings, 'routes' | 'upstreams'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const problems: string[] = [];
  const routes = resolveConfiguredRoutes(settings, {
    issuer: 'http://localhost',
    environment,
    entered: { read: never, onChange: () => () => undefined },
    upstreams: Object.keys(settings.upstreams),
    labelOf: (name) => name,
    tokens: { token: never, holds: never },
    pinDefinitions: (route) => ({
      route,
      store: { list: never, add: never, upgrade: never, noteChange: never },
      noteChanged: never,
      now: never,
    }),
    objects: { tasksOf: () => ({ add: never, filterOwned: never }), close: never },
    seal: { seal: never, open: never },
    assertions: { issuer: 'http://localhost', signing: [], now: never },
    logger: createLogger('silent'),
    now: never,
  });
  for (const { make } of routes)
    try {
      await make().backend?.close();
    } catch (error) {
      if (!(error instanceof SettingsRefused)) throw error;
      problems.push(...error.problems);
    }
  return problems;
}
