import type { BackendStatus } from '../gateway/index.ts';
import type { ServedRoute } from './served-routes.ts';

/** How a route stands, for its operator. */
export interface RouteStatus extends Omit<BackendStatus, 'kind' | 'failures'> {
  /** Its name in the settings; `server` for a server that code brought. */
  route: string;
  /** What people call it. */
  name: string;
  mcpUrl: string;
  /** `own`: a server in this process. */
  kind: BackendStatus['kind'] | 'own';
  /** Of its backend; none for a server in this process. */
  failures?: BackendStatus['failures'];
  /** MCP sessions this process holds. */
  sessions: number;
  /** MCP calls that run. */
  calls: number;
}

/** A route, as far as it is looked at. */
export type LookedAtRoute = {
  wanted: Pick<ServedRoute['wanted'], 'key'>;
  server: Pick<ServedRoute['server'], 'name'>;
  own: Pick<ServedRoute['own'], 'mcp'>;
  mcpEndpoint: Pick<ServedRoute['mcpEndpoint'], 'load'>;
  backend?: Pick<NonNullable<ServedRoute['backend']>, 'status'>;
};

/** Gives how a route stands at this moment. */
export function statusOfRoute({ wanted, server, own, mcpEndpoint, backend }: LookedAtRoute): RouteStatus {
  const load = mcpEndpoint.load();
  const ofOwn = { kind: 'own', state: load.sessions + load.calls > 0 ? 'running' : 'idle' } as const;
  return {
    route: wanted.key,
    name: server.name,
    mcpUrl: own.mcp,
    ...(backend ? backend.status() : ofOwn),
    ...load,
  };
}
