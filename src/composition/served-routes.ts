import type { AppRoute } from '../app/app.ts';
import type { LiveRoutes } from '../app/paths.ts';
import type { AuditTrail } from '../authorization-server/index.ts';
import { allEnded, endInOrder } from '../collections/closing.ts';
import type { BackendStatus, GatewayBackend } from '../gateway/index.ts';
import type { McpEndpoint } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { NormalizedServer } from '../protected-server.ts';
import { makeAll } from '../settings/issues.ts';
import type { ResolvedRoute } from './resolve-routes.ts';
import { type OwnResource, ownResources } from './resources.ts';
import type { RouteCredentials } from './route-backend.ts';

/** An MCP server at its place, before requests reach it. */
export interface PlacedServer {
  route: ResolvedRoute;
  server: NormalizedServer;
  /** Identifiers of its protected resources. */
  own: Record<OwnResource, string>;
  /** The backend behind it; none for a server in this process. */
  backend?: GatewayBackend;
  /** Forms in which people enter credentials for it. */
  forms?: RouteCredentials['forms'];
}

/** An MCP server that requests reach, with its endpoint and the checks in front of it. */
export interface ServedRoute extends PlacedServer, AppRoute {
  mcpEndpoint: McpEndpoint;
}

/** Options for serving routes. */
export interface ServingOptions {
  /** The public URL. */
  issuer: string;
  serve: (placed: PlacedServer) => ServedRoute;
  /** Tells the authorization server about the servers. Throws if its settings do not fit them. */
  announce: (placed: readonly PlacedServer[]) => void;
}

/** Names of the routes that a replacement added, changed, removed and kept. */
export interface RoutesChange {
  added: string[];
  /** Routes with a new server. */
  changed: string[];
  removed: string[];
  kept: string[];
}

/** Maximum time that running calls of a replaced route may take, in milliseconds. */
const endingPatienceMs = 8000;

/** The routes of an installation. `all` changes at each replacement, so read it anew each time. */
export interface ServedRoutes extends LiveRoutes<ServedRoute> {
  /** Serves the first routes. */
  begin(placed: readonly PlacedServer[], options: Pick<ServingOptions, 'serve'>): void;
  /**
   * Serves these routes instead. An unchanged route keeps its sessions, streams and processes. The others take no new
   * requests; their running calls may end by themselves for a while, and then end with an error.
   * @throws SettingsRefused naming every problem; then nothing has changed
   */
  replace(routes: readonly ResolvedRoute[], options: ServingOptions): RoutesChange;
  /** Ends all routes. @param patienceMs maximum time that running calls may take, in milliseconds */
  close(patienceMs?: number): Promise<void>;
}

/** Creates the table of routes, empty. */
export function createServedRoutes(logger: Pick<Logger, 'warn'>): ServedRoutes {
  let all: readonly ServedRoute[] = [];
  const ending = new Set<Promise<void>>();
  return {
    get all() {
      return all;
    },
    begin(placed, { serve }) {
      all = placed.map(serve);
    },
    replace(routes, { issuer, serve, announce }) {
      const before = all;
      const kept = ({ key, fingerprint }: ResolvedRoute): ServedRoute | undefined =>
        before.find(({ route }) => route.key === key && route.fingerprint === fingerprint);
      const made: PlacedServer[] = [];
      const make = (each: ResolvedRoute): PlacedServer => {
        const server = placeServer(each, issuer);
        made.push(server);
        return server;
      };
      let placed: PlacedServer[];
      try {
        placed = makeAll(routes.map((each) => () => kept(each) ?? make(each)));
        announce(placed);
      } catch (error) {
        for (const { backend } of made) void backend?.close();
        throw error;
      }
      all = placed.map((each) => kept(each.route) ?? serve(each));
      const gone = before.filter((route) => !all.includes(route));
      // Whoever replaces routes does not wait for their end.
      const end = endAll(gone, endingPatienceMs)
        .catch((error: unknown) => logger.warn({ err: error }, 'a route that was replaced did not end well'))
        .finally(() => ending.delete(end));
      ending.add(end);
      return compare(before, all);
    },
    async close(patienceMs = 0) {
      await allEnded([endAll(all, patienceMs), ...ending]);
    },
  };
}

/**
 * Creates the server of a route.
 * @param issuer the public URL
 * @throws SettingsRefused
 */
export function placeServer(route: ResolvedRoute, issuer: string): PlacedServer {
  return { route, own: ownResources(`${issuer}${route.path}`), ...route.make() };
}

async function endAll(routes: readonly ServedRoute[], patienceMs: number): Promise<void> {
  await allEnded(
    routes.map(({ mcpEndpoint, backend }) =>
      endInOrder([() => mcpEndpoint.close(patienceMs), () => backend?.close()]),
    ),
  );
}

function compare(before: readonly ServedRoute[], after: readonly ServedRoute[]): RoutesChange {
  const keys = (routes: readonly ServedRoute[]): string[] => routes.map(({ route }) => route.key);
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

/** Records in the audit log that routes were replaced, unless all were kept (T-197). */
export function recordRoutesChange(
  { added, changed, removed }: RoutesChange,
  { auditTrail, logger }: { auditTrail: Pick<AuditTrail, 'note'>; logger: Pick<Logger, 'info'> },
): void {
  const details = Object.fromEntries(
    Object.entries({ added, changed, removed })
      .filter(([, names]) => names.length > 0)
      .map(([what, names]) => [what, names.join(' ')]),
  );
  if (Object.keys(details).length === 0) return;
  const event = 'routes.replaced';
  auditTrail.note(event, details, () => logger.info({ audit: event, ...details }));
}

/** The state of a route, for its operator. */
export interface RouteStatus extends Omit<BackendStatus, 'kind' | 'failures'> {
  /** Its name in the settings; `server` for a server that the code provides. */
  route: string;
  /** Name that people see. */
  name: string;
  mcpUrl: string;
  /** `own`: a server in this process. */
  kind: BackendStatus['kind'] | 'own';
  /** Failures of its backend; undefined for a server in this process. */
  failures?: BackendStatus['failures'];
  /** MCP sessions in this process. */
  sessions: number;
  /** Running MCP calls. */
  calls: number;
}

/** Returns the state of a route at this moment. */
export function statusOfRoute({ route, server, own, mcpEndpoint, backend }: ServedRoute): RouteStatus {
  const load = mcpEndpoint.load();
  const ownStatus = { kind: 'own', state: load.sessions + load.calls > 0 ? 'running' : 'idle' } as const;
  return {
    route: route.key,
    name: server.name,
    mcpUrl: own.mcp,
    ...(backend ? backend.status() : ownStatus),
    ...load,
  };
}

/** Exports gauges with the sums over all routes. */
export function watchRoutes(routes: LiveRoutes<ServedRoute>, { watch }: Pick<Metrics, 'watch'>): void {
  const sum = (read: (route: ServedRoute) => number) => (): number =>
    routes.all.reduce((total, route) => total + read(route), 0);
  watch(
    'gatehouse_mcp_sessions',
    'MCP sessions this process holds.',
    sum(({ mcpEndpoint }) => mcpEndpoint.load().sessions),
  );
  watch(
    'gatehouse_mcp_calls_running',
    'MCP calls that run.',
    sum(({ mcpEndpoint }) => mcpEndpoint.load().calls),
  );
  watch(
    'gatehouse_backend_processes',
    'Processes of backends.',
    sum(({ backend }) => backend?.status().processes ?? 0),
  );
  watch(
    'gatehouse_backend_connections',
    'Connections to backends that are reached by URL.',
    sum(({ backend }) => backend?.status().connections ?? 0),
  );
  watch(
    'gatehouse_backend_circuits_open',
    'Circuit breakers that are open, for a whole backend or for one account.',
    sum(({ backend }) => {
      const { isOpenForAll = false, accounts = 0 } = backend?.status().circuits ?? {};
      return Number(isOpenForAll) + accounts;
    }),
  );
}
