import type { LiveRoutes } from '../app/live-routes.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ServedRoute } from './served-routes.ts';

/** A route, as far as it is counted. */
export type CountedRoute = { mcpEndpoint: Pick<ServedRoute['mcpEndpoint'], 'load'> } & Pick<
  ServedRoute,
  'backend'
>;

/** Has the numbers an operator sees of the MCP servers read: those of all together. */
export function watchRoutes(routes: LiveRoutes<CountedRoute>, metrics: Pick<Metrics, 'watch'>): void {
  const sum = (read: (route: CountedRoute) => number) => (): number =>
    routes.all.reduce((total, route) => total + read(route), 0);
  const { watch } = metrics;
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
    'Backends that nobody is let through to because they fail, and accounts that are kept from one.',
    sum(({ backend }) => {
      const { isOpenForAll = false, accounts = 0 } = backend?.status().circuits ?? {};
      return Number(isOpenForAll) + accounts;
    }),
  );
}
