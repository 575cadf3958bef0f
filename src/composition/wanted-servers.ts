import type { TextSeal } from '../crypto/sealed-box.ts';
import type { GatewayBackend, Memory } from '../gateway/index.ts';
import type { HeldBytes } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import { completeScopes, findRouteMethodProblems, type NormalizedServer } from '../protected-server.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { cacheSettings, policySettings } from '../settings/policy.ts';
import { backendsOf, credentialsFor, pathOfRoute } from '../settings/routes.ts';
import type { BackendObjects } from './backend-objects.ts';
import { markFiles } from './named-files.ts';
import { type BackendOptions, composeRouteBackend } from './route-backend.ts';
import {
  composeRouteCredentials,
  type RouteCredentials,
  type RouteCredentialsParts,
} from './route-credentials.ts';

/** An MCP server that is to be served, and where. */
export interface WantedServer {
  /** Its name among all; no two are the same. */
  key: string;
  /** Path of its route below the public URL; empty for the public URL itself. */
  path: string;
  /** Differs where anything of it does, files named in it included. */
  mark: string;
  /**
   * Makes it. It starts nothing before it is needed.
   * @throws SettingsRefused naming what is wrong
   */
  make(): { server: NormalizedServer; backend?: GatewayBackend; forms?: RouteCredentials['forms'] };
}

/** The key of a server that code brought. */
const broughtKey = 'server';

/** What a backend that code brought is remembered as; no route has this name. */
const broughtRoute = '/';

/** What backends are made with. */
export interface BackendParts {
  /** The public URL. */
  issuer: string;
  /** Gives where the tools of a route are remembered. */
  pinDefinitions: (route: string) => Memory;
  /** Binds the objects that backends keep to their callers. */
  objects: BackendObjects;
  seal: TextSeal;
  /** Counts the bytes of answers while they are read; each backend has a count of its own without it. */
  held?: HeldBytes | undefined;
  logger: Logger;
}

/**
 * Makes a server that is a backend which code brought.
 * @throws SettingsRefused naming what is wrong
 */
export function makeBackend(
  { name: given, ...options }: BackendOptions,
  { issuer, pinDefinitions, objects, seal, held, logger }: BackendParts,
): ReturnType<WantedServer['make']> {
  const name = given ?? new URL(issuer).host;
  const policy = policySettings.parse(undefined);
  const cache = cacheSettings.parse(undefined);
  const backend = composeRouteBackend(
    { backends: [{ place: 'backend', name, options }], policy, cache },
    { name, pins: pinDefinitions(broughtRoute), owners: objects.tasksOf(broughtRoute), seal, held, logger },
  );
  return { server: { name, source: backend.source, ...completeScopes({}) }, backend };
}

/** The servers of routes, in the order they were written. */
export function wantRoutes(
  { routes }: Pick<Settings, 'routes'>,
  parts: BackendParts & RouteCredentialsParts,
): WantedServer[] {
  const { issuer, pinDefinitions, objects, seal, held, logger } = parts;
  return Object.entries(routes).map(([key, route]) => {
    const path = pathOfRoute(key, route);
    const name = route.name ?? (path === '' ? new URL(issuer).host : key);
    return {
      key,
      path,
      mark: `${JSON.stringify(route)}\n${markFiles(route)}`,
      make() {
        const all = backendsOf(route).map(({ key: of, place, backend }) => {
          const called = of === undefined ? name : `${name}/${of}`;
          const { source, forms } = composeRouteCredentials(
            { route: key, name: called, credentials: credentialsFor(route.credentials, of) },
            parts,
          );
          const at = `routes.${key}.${place}`;
          return { key: of, place: at, name: called, options: backend, credentials: source, forms };
        });
        const { policy, cache } = route;
        const problems = findRouteMethodProblems(`routes.${key}`, route);
        if (problems.length > 0) throw new SettingsRefused(problems);
        const kept = { pins: pinDefinitions(key), owners: objects.tasksOf(key) };
        const backend = composeRouteBackend(
          { backends: all, policy, cache },
          { name, ...kept, seal, held, logger },
        );
        const credentials = all.flatMap(({ forms }) => forms.credentials);
        const forms = { route: key, label: name, credentials };
        const server = { name, source: backend.source, methods: policy.methods, ...completeScopes(route) };
        return { server, backend, forms };
      },
    };
  });
}

/**
 * The servers an installation is to serve: one that code brought, and those of its routes. The first is the one for
 * clients that name none: that at the public URL itself, where there is one.
 * @param brought makes the server that code brought; or what is served where there is no route
 * @throws SettingsRefused where two are at one path
 */
export function wantServers(
  settings: Pick<Settings, 'routes'>,
  brought: { given: WantedServer['make'] | undefined; otherwise: WantedServer['make'] },
  parts: BackendParts & RouteCredentialsParts,
): WantedServer[] {
  const ofRoutes = wantRoutes(settings, parts);
  const make = brought.given ?? (ofRoutes.length === 0 ? brought.otherwise : undefined);
  const atRoot = ofRoutes.find(({ path }) => path === '');
  if (!make) return atRoot ? [atRoot, ...ofRoutes.filter((each) => each !== atRoot)] : ofRoutes;
  if (atRoot)
    throw new SettingsRefused([`routes.${atRoot.key}.path: / is the path of the server that was brought`]);
  return [{ key: broughtKey, path: '', mark: broughtKey, make }, ...ofRoutes];
}
