import type { AppRoute } from '../app/app.ts';
import type { LiveRoutes } from '../app/live-routes.ts';
import type { GatewayBackend } from '../gateway/index.ts';
import type { McpEndpoint } from '../mcp/index.ts';
import type { NormalizedServer } from '../protected-server.ts';
import { makeAll } from '../settings/issues.ts';
import { type OwnResource, ownResources } from './resources.ts';
import type { RouteCredentials } from './route-credentials.ts';
import type { WantedServer } from './wanted-servers.ts';

/** An MCP server with its place. Nothing of it runs yet. */
export interface PlacedServer {
  wanted: WantedServer;
  server: NormalizedServer;
  /** Identifiers of the protected resources it is. */
  own: Record<OwnResource, string>;
  /** Where it stands elsewhere. */
  backend?: GatewayBackend;
  /** What people enter for it. */
  forms?: RouteCredentials['forms'];
}

/** An MCP server that is served: its endpoint, and the checks in front of it. */
export interface ServedRoute extends PlacedServer, AppRoute {
  mcpEndpoint: McpEndpoint;
}

/** How servers come to be served. */
export interface ServingOptions {
  /** The public URL. */
  issuer: string;
  /** Serves one from now on. */
  serve: (placed: PlacedServer) => ServedRoute;
  /** Tells those who issue tokens which servers there are; throws where it cannot be these. */
  announce: (placed: readonly PlacedServer[]) => void;
}

/** What became of routes, by their names. */
export interface RoutesChange {
  added: string[];
  /** They have a new server. */
  changed: string[];
  removed: string[];
  kept: string[];
}

/** How long calls that run at a route may go on when it is replaced, in milliseconds. */
const endingPatienceMs = 8000;

/** The routes of an installation. Keep the object: what it gives changes. */
export interface ServedRoutes extends LiveRoutes<ServedRoute> {
  /** Serves the first ones. */
  begin(placed: readonly PlacedServer[], options: Pick<ServingOptions, 'serve'>): void;
  /**
   * Serves these from now on. One that is as it was goes on with its sessions, streams and processes. Others that were
   * there take nothing new; calls that run at them may end by themselves for a while, and then end with an error.
   * @throws SettingsRefused naming what is wrong with each; nothing has changed then
   */
  replace(wanted: readonly WantedServer[], options: ServingOptions): RoutesChange;
  /** Ends all. @param patienceMs how long calls that run may take to end by themselves, in milliseconds */
  close(patienceMs?: number): Promise<void>;
}

/**
 * Makes a server that is wanted, with its place.
 * @param issuer the public URL
 * @throws SettingsRefused naming what is wrong with it
 */
export function placeServer(wanted: WantedServer, issuer: string): PlacedServer {
  return { wanted, own: ownResources(`${issuer}${wanted.path}`), ...wanted.make() };
}

/** Creates the table of routes, empty. */
export function createServedRoutes(): ServedRoutes {
  let all: readonly ServedRoute[] = [];
  const ending = new Set<Promise<void>>();
  return {
    get all() {
      return all;
    },
    begin(placed, { serve }) {
      all = placed.map(serve);
    },
    replace(wanted, { issuer, serve, announce }) {
      const before = all;
      const kept = (each: WantedServer): ServedRoute | undefined =>
        before.find((route) => route.wanted.key === each.key && route.wanted.mark === each.mark);
      const made: PlacedServer[] = [];
      const make = (each: WantedServer): PlacedServer => {
        const server = placeServer(each, issuer);
        made.push(server);
        return server;
      };
      let placed: PlacedServer[];
      try {
        placed = makeAll(wanted.map((each) => () => kept(each) ?? make(each)));
        announce(placed);
      } catch (error) {
        for (const { backend } of made) void backend?.close();
        throw error;
      }
      all = placed.map((each) => kept(each.wanted) ?? serve(each));
      const gone = before.filter((route) => !all.includes(route));
      const end = endAll(gone, endingPatienceMs).finally(() => ending.delete(end));
      ending.add(end);
      return compare(before, all);
    },
    async close(patienceMs = 0) {
      await Promise.all([endAll(all, patienceMs), ...ending]);
    },
  };
}

async function endAll(routes: readonly ServedRoute[], patienceMs: number): Promise<void> {
  await Promise.all(
    routes.map(async ({ mcpEndpoint, backend }) => {
      await mcpEndpoint.close(patienceMs);
      await backend?.close();
    }),
  );
}

function compare(before: readonly ServedRoute[], after: readonly ServedRoute[]): RoutesChange {
  const keys = (routes: readonly ServedRoute[]): string[] => routes.map(({ wanted }) => wanted.key);
  const had = keys(before);
  const has = keys(after);
  const kept = keys(after.filter((route) => before.includes(route)));
  return {
    added: has.filter((key) => !had.includes(key)),
    changed: has.filter((key) => had.includes(key) && !kept.includes(key)),
    removed: had.filter((key) => !has.includes(key)),
    kept,
  };
}
