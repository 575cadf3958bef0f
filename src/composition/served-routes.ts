import type { AppRoute } from '../app/app.ts';
import type { LiveRoutes } from '../app/live-routes.ts';
import type { GatewayBackend } from '../gateway/index.ts';
import type { McpEndpoint } from '../mcp/index.ts';
import type { NormalizedServer } from '../protected-server.ts';
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

/** The routes of an installation. Keep the object: what it gives changes. */
export interface ServedRoutes extends LiveRoutes<ServedRoute> {
  /** Serves the first ones. */
  begin(placed: readonly PlacedServer[], options: Pick<ServingOptions, 'serve'>): void;
  /**
   * Serves these from now on. One that is as it was goes on with its sessions, streams and processes; others that were
   * there end, with an error for the calls that run at them.
   * @throws SettingsRefused naming what is wrong with one; nothing has changed then
   */
  replace(wanted: readonly WantedServer[], options: ServingOptions): Promise<void>;
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
  return {
    get all() {
      return all;
    },
    begin(placed, { serve }) {
      all = placed.map(serve);
    },
    async replace(wanted, { issuer, serve, announce }) {
      const before = all;
      const kept = (each: WantedServer): ServedRoute | undefined =>
        before.find((route) => route.wanted.key === each.key && route.wanted.mark === each.mark);
      const placed = wanted.map((each) => kept(each) ?? placeServer(each, issuer));
      announce(placed);
      all = placed.map((each) => kept(each.wanted) ?? serve(each));
      await endAll(
        before.filter((route) => !all.includes(route)),
        0,
      );
    },
    close: (patienceMs = 0) => endAll(all, patienceMs),
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
