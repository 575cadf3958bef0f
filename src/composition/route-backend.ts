import {
  type CredentialSource,
  createRemoteBackend,
  createStdioBackend,
  createSteps,
  type GatewayBackend,
  type RemoteBackendOptions,
  type StdioBackendOptions,
  withSteps,
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
  logger: Logger;
}

/**
 * Composes a backend. It starts nothing, and asks nobody, before it is needed.
 * @throws SettingsRefused naming what is wrong
 */
export function composeBackend(
  options: StdioBackendOptions | RemoteBackendOptions,
  { place, name, credentials, logger }: RouteBackendParts,
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
  { backend: options, policy }: RouteSettings,
  parts: RouteBackendParts,
): GatewayBackend {
  const { name, logger } = parts;
  const backend = composeBackend(options, parts);
  const { list } = createSteps({ name, policy, logger });
  return {
    source: withSteps(backend.source, list, logger),
    status: () => backend.status(),
    close: () => backend.close(),
  };
}
