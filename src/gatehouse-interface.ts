import type { RequestListener, Server } from 'node:http';
import type Koa from 'koa';
import type { OtherReload } from './cluster/relays.ts';
import type { ReloadOutcome } from './composition/reload.ts';
import type { BackendOptions } from './composition/route-backend.ts';
import type { RouteStatus, RoutesChange } from './composition/served-routes.ts';
import type { KeyRing } from './crypto/key-ring.ts';
import type { KeySet } from './crypto/key-schedule.ts';
import type { Logger } from './observability/logger.ts';
import type { SettingsInput } from './options.ts';
import type { OwnServer } from './protected-server.ts';
import { SettingsRefused } from './settings/issues.ts';
import { isRecord } from './settings/scopes.ts';
import type { Storage } from './storage/storage.ts';

export type { OtherReload, ReloadOutcome, RouteStatus, RoutesChange };

/** Options of `createGatehouse`: the settings of the config file, and the parts that only code can provide. */
export interface GatehouseOptions extends Omit<SettingsInput, 'storage'> {
  /** URL at which clients reach this server. */
  publicUrl: string;
  storage: Storage;
  keys: KeySet;
  /** Source of the keys, so that they can be rotated; without it they stay as they are. */
  keyRing?: KeyRing;
  /** The MCP server at the public URL itself. Default: a server of notes, if there is no route either. */
  server?: OwnServer;
  /** A backend at the public URL itself, instead of a server: a program, or a server reached by URL. */
  backend?: BackendOptions;
  /** Default: JSON lines on standard error. */
  logger?: Logger;
}

/** A running gatehouse, before a port listens for it. */
export interface Gatehouse {
  app: Koa;
  /** URL of the MCP endpoint of the first server. */
  readonly mcpUrl: string;
  /** All MCP servers with their endpoints. */
  readonly servers: readonly { name: string; mcpUrl: string }[];
  issuer: string;
  /** Serves `GET /metrics`: a listener for a Node HTTP server on its own port. */
  serveMetrics: RequestListener;
  /**
   * Answers the requests of a Node HTTP server, and sets its timeouts for long streams and proxies. The server should have
   * no other request listener.
   * @throws TypeError if it is not an HTTP server, such as an Express app; Error if another gatehouse that is not closed
   *   is attached to it
   */
  attach(server: Server): void;
  /** Returns the state of each route at this moment. */
  routes(): RouteStatus[];
  /**
   * Serves other routes from now on. Unchanged routes keep their sessions, streams and processes. The others take no new
   * requests, and end when their running calls have ended, after 8 seconds at most.
   * @throws SettingsRefused naming every problem; then nothing has changed
   */
  replaceRoutes(routes: SettingsInput['routes']): RoutesChange;
  /**
   * Reloads the settings. Routes change as by `replaceRoutes`; the other settings take effect at the next start.
   * @param load reads the settings; if it throws, nothing changes
   * @param cause for the log
   */
  reload(load: () => SettingsInput, cause: string): ReloadOutcome;
  /**
   * Makes the other nodes of the installation reload their config files.
   * @returns the outcomes of those that are alive
   * @throws if the database does not list the nodes
   */
  reloadOthers(): Promise<OtherReload[]>;
  /**
   * Calls back if another node made this one reload. A node without a callback does not respond, and the command
   * `gatehouse reload` fails.
   * @param reload returns true if the settings could be used
   * @returns ends it
   */
  onReload(reload: () => boolean): () => void;
  /**
   * Rejects new MCP calls, and ends streams and background work; running calls get an error. The storage stays open,
   * because it belongs to the caller.
   * @param patienceMs maximum time that running calls may take, in milliseconds; 0 by default
   */
  close(patienceMs?: number): Promise<void>;
}

/** Names of the parts that only code can provide. */
export const partNames = ['storage', 'keys', 'keyRing', 'server', 'backend', 'logger'] as const;

const loggerMethods = ['debug', 'info', 'warn', 'error', 'isLevelEnabled'] as const;

/**
 * Checks the parts that only code can provide, because plain JavaScript has no types.
 * @param options the argument of `createGatehouse`
 * @throws SettingsRefused naming every part that is missing or cannot be used
 */
export function checkGivenParts(options: unknown): void {
  if (!isRecord(options))
    throw new SettingsRefused(['options: createGatehouse takes an object: { publicUrl, storage, keys, … }']);
  const missing = (['storage', 'keys'] as const).filter((name) => !isRecord(options[name]));
  const problems = [
    ...missing.map(
      (name) =>
        `${name}: is required: spread the result of openDataFolder() from mcp-gatehouse/sqlite into the options`,
    ),
    ...(options.server && options.backend ? ['backend: cannot be used with server: give one of them'] : []),
    ...findLoggerProblems(options.logger),
  ];
  if (problems.length > 0) throw new SettingsRefused(problems);
}

function findLoggerProblems(logger: unknown): string[] {
  if (logger === undefined || logger === null) return [];
  const given = logger as Record<string, unknown>;
  const missing = loggerMethods.filter((name) => typeof given[name] !== 'function');
  return missing.length === 0
    ? []
    : [
        `logger: has no ${missing.join(', ')}: give a logger of pino, or leave it out for JSON lines on standard error`,
      ];
}
