import {
  createRemoteBackend,
  createStdioBackend,
  type GatewayBackend,
  type RemoteBackendOptions,
  type StdioBackendOptions,
} from '../gateway/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type NormalizedServer, readOwnServer } from '../protected-server.ts';
import { SettingsRefused } from '../settings/settings-refused.ts';

/** An MCP server to put behind the gate: a program, or one that is reached by URL. */
export type BackendOptions = (StdioBackendOptions | RemoteBackendOptions) & {
  /** What people call it; stands on the consent page and in errors. The host of the public URL by default. */
  name?: string;
};

/** What a backend is composed with. */
export interface BackendParts {
  publicUrl: string;
  logger: Logger;
  metrics: Pick<Metrics, 'watch'>;
}

/**
 * Composes the backend of an installation: an MCP server with one scope that everything needs.
 * @returns the server, and what lets go of its processes in the end
 * @throws SettingsRefused naming what is wrong
 */
export function composeBackend(
  { name, ...options }: BackendOptions,
  { publicUrl, logger, metrics }: BackendParts,
): { server: NormalizedServer; close: () => Promise<void> | void } {
  const named = name ?? new URL(publicUrl).host;
  try {
    const { source, close } = createBackend(named, options, { logger, metrics });
    const description = readOwnServer({ name: named, create: source.create }, publicUrl);
    return { server: { ...description, source }, close };
  } catch (error) {
    if (error instanceof SettingsRefused) throw error;
    throw new SettingsRefused([`backend: ${(error as Error).message}`]);
  }
}

function createBackend(
  name: string,
  options: StdioBackendOptions | RemoteBackendOptions,
  { logger, metrics }: Pick<BackendParts, 'logger' | 'metrics'>,
): GatewayBackend {
  if ('url' in options) {
    const backend = createRemoteBackend(name, options, { logger });
    const count = (): number => backend.status().connections ?? 0;
    metrics.watch('gatehouse_backend_connections', 'Connections to the backend.', count);
    return backend;
  }
  const backend = createStdioBackend(name, options, { logger });
  const count = (): number => backend.status().processes ?? 0;
  metrics.watch('gatehouse_backend_processes', 'Processes of the backend.', count);
  return backend;
}
