import {
  type CredentialSource,
  createRemoteBackend,
  createStdioBackend,
  createSteps,
  type GatewayBackend,
  type Memory,
  type RemoteBackendOptions,
  type StdioBackendOptions,
  withSteps,
  withWaitingServers,
} from '../gateway/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { RoutesSettings } from '../settings/routes.ts';
import { SettingsRefused } from '../settings/settings-refused.ts';

/** An MCP server that code puts behind the gate: a program, or one that is reached by URL. */
export type BackendOptions = (StdioBackendOptions | RemoteBackendOptions) & {
  /** What people call it; stands on the consent page and in errors. The host of the public URL by default. */
  name?: string;
};

/** The settings of one route. */
export type RouteSettings = RoutesSettings[string];

/** What a backend is composed with. */
export interface RouteBackendParts {
  /** Where it stands in the settings. */
  place: string;
  /** What people call it. */
  name: string;
  /** What it is given on behalf of its callers; nothing without it. */
  credentials?: CredentialSource | undefined;
  /** Where the definitions of its tools are remembered. */
  pins: Memory;
  logger: Logger;
}

/**
 * Composes a backend. It starts nothing, and asks nobody, before it is needed.
 * @throws SettingsRefused naming what is wrong
 */
export function composeBackend(
  options: StdioBackendOptions | RemoteBackendOptions,
  { place, name, credentials, logger }: Omit<RouteBackendParts, 'pins'>,
): GatewayBackend {
  const given = credentials && { credentials };
  try {
    return 'url' in options
      ? createRemoteBackend(name, options, { logger, ...given })
      : createStdioBackend(name, { ...options, ...given }, { logger });
  } catch (error) {
    throw new SettingsRefused([`${place}: ${(error as Error).message}`]);
  }
}

/**
 * Composes the backend of a route, behind the steps that its settings ask for.
 * @throws SettingsRefused naming what is wrong
 */
export function composeRouteBackend(
  {
    backend: options,
    policy,
    cache,
  }: { backend: StdioBackendOptions | RemoteBackendOptions } & Pick<RouteSettings, 'policy' | 'cache'>,
  parts: RouteBackendParts,
): GatewayBackend {
  const { name, pins, credentials, logger } = parts;
  const backend = composeBackend(options, parts);
  const { list, breaker, close } = createSteps({
    ...{ name, policy, cache, pins, credentials, logger },
    isOneForAll: 'url' in options || options.process === 'shared',
    isPersonal:
      credentials !== undefined || ('accountFolders' in options && options.accountFolders !== undefined),
  });
  const source = credentials ? withWaitingServers(backend.source, credentials, name) : backend.source;
  return {
    source: withSteps(source, list, logger),
    status: () => ({ ...backend.status(), circuits: breaker.status() }),
    async close() {
      close();
      await backend.close();
    },
  };
}
