import { createStdioBackend, type StdioBackendOptions } from '../gateway/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type NormalizedServer, readOwnServer } from '../protected-server.ts';
import { SettingsRefused } from '../settings/settings-refused.ts';

/** An MCP server that is a program, to put behind the gate. */
export interface BackendOptions extends StdioBackendOptions {
  /** What people call it; stands on the consent page and in errors. The host of the public URL by default. */
  name?: string;
}

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
    const { source, status, close } = createStdioBackend(named, options, { logger });
    metrics.watch('gatehouse_backend_processes', 'Processes of the backend.', () => status().processes ?? 0);
    const description = readOwnServer({ name: named, create: source.create }, publicUrl);
    return { server: { ...description, source }, close };
  } catch (error) {
    if (error instanceof SettingsRefused) throw error;
    throw new SettingsRefused([`backend: ${(error as Error).message}`]);
  }
}
