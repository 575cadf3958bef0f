import type { ServerSource } from '../../mcp/server-source.ts';
import { type AuthInfo, accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CredentialSource } from '../credentials/credentials.ts';
import { createModernSource } from '../modern/modern-source.ts';
import { createStdioLink } from '../modern/stdio-link.ts';
import { backendEnvironment } from './environment.ts';
import { createFailures } from './failures.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { Places } from './places.ts';
import { Restarts } from './restarts.ts';
import { StdioServer } from './stdio-server.ts';
import { createWatchdog } from './watchdog.ts';

/** An MCP server that is a program, and speaks over its standard input and output. */
export interface StdioBackendOptions {
  /** The program: a path, or a name to look for in PATH. No shell reads it or its arguments (T-152). */
  command: string;
  args?: readonly string[];
  /**
   * Names of variables of our environment it gets, or variables with their values, beside PATH, HOME, LANG, TERM and
   * TMPDIR; none by default.
   */
  env?: readonly string[] | Readonly<Record<string, string>>;
  /** Who shares a process; `session` by default. */
  process?: ProcessSharing;
  /** Most processes at once; 50 by default. An account has a fifth of them at most. */
  maxProcesses?: number;
  /** How long a process nobody uses is kept, in seconds; an hour by default. */
  idleSeconds?: number;
  /** Longest line it may write, in bytes; 16 MiB by default. */
  maxLineBytes?: number;
  /** How long it may take to answer `initialize`, in milliseconds; 50 s by default, before clients give up. */
  startMs?: number;
  /** What each account's processes get as environment; not with processes that everybody shares. */
  credentials?: CredentialSource;
}

/**
 * Who shares a process.
 * - `session`: nobody; the requests of one account with one client that belong to no session share one.
 * - `account`: all sessions and clients of an account.
 * - `shared`: everybody. For programs that keep nothing of a person: they cannot ask their client anything.
 */
export type ProcessSharing = 'session' | 'account' | 'shared';

const sharings: Readonly<Record<ProcessSharing, ServerSource['sharing']>> = {
  session: 'principal',
  account: 'account',
  shared: 'everyone',
};

/** Together less than what is left of the ten seconds between SIGTERM and SIGKILL when calls had their eight (T-181). */
const patience = { byItselfMs: 500, afterTermMs: 1000 };

const accountShare = 5;

const longestLookMs = 30_000;

/** How long a caller of 2026-07-28 waits until it is known whether the program speaks it, in milliseconds. */
const mostProbeMs = 20_000;

/**
 * Creates a backend whose processes are started as they are needed.
 * @param name what it is called in errors and in the log
 * @throws Error where a variable it is to be given is not set, or what one person has would go to everybody; RangeError
 * where there may be no process
 */
export function createStdioBackend(
  name: string,
  options: StdioBackendOptions,
  { logger, nowMs = () => performance.now() }: { logger: Logger; nowMs?: () => number },
): GatewayBackend {
  const { command, args = [], process: sharing = 'session', credentials } = options;
  const { maxProcesses = 50, maxLineBytes = 16 * 1024 * 1024, startMs = 50_000 } = options;
  const idleMs = (options.idleSeconds ?? 3600) * 1000;
  if (!Number.isInteger(maxProcesses) || maxProcesses < 1)
    throw new RangeError('maxProcesses: must be a whole number from 1');
  if (sharing === 'shared' && credentials)
    throw new Error('process: "shared" is for programs without personal credentials; use "account".');
  const { env, secrets, missing } = backendEnvironment(options.env ?? [], process.env);
  if (missing.length > 0)
    throw new Error(
      `The environment has no ${missing.join(', ')}: set it, or do not name it for the backend.`,
    );
  const watchdog = createWatchdog(logger);
  const perAccount = sharing === 'session' ? Math.ceil(maxProcesses / accountShare) : 1;
  const places = new Places(name, { total: maxProcesses, perAccount }, nowMs);
  const restarts = new Restarts(nowMs);
  const failures = createFailures(() => Math.floor(Date.now() / 1000));
  const started = { name, command, args, env, secrets, maxLineBytes, patience, watchdog, logger, nowMs };
  const launcher = createLauncher({ ...started, ...(credentials && { credentials }) });
  const servers = new Set<StdioServer>();
  const look = setInterval(() => places.endIdle(idleMs), Math.min(idleMs / 2, longestLookMs)).unref();
  const stopWatching = credentials?.onChange((owner) => {
    const account = accountKeyPrefix(owner);
    link.renew(owner);
    for (const server of servers) if (server.account === account) server.startAnew();
  });

  const older: ServerSource = {
    sharing: sharings[sharing],
    create({ authInfo }) {
      const server = new StdioServer(authInfo ? accountKeyPrefix(authInfo) : '', {
        ...{ name, startMs, places, restarts, failures, logger, nowMs },
        launch: () => launcher.launch(authInfo),
        onClose: () => servers.delete(server),
      });
      servers.add(server);
      return server;
    },
  };
  const launch = (caller: AuthInfo | undefined): ReturnType<Launcher['launch']> => launcher.launch(caller);
  const link = createStdioLink({ name, sharing, startMs, places, restarts, launch, nowMs });
  const source = createModernSource({
    legacy: older,
    link,
    worked: () => failures.mended(),
    noteFailure: ({ reason }) => failures.note(reason),
    probeMs: startMs,
    patienceMs: mostProbeMs,
    // A program is another one when it is started anew by an operator.
    believedMs: Number.POSITIVE_INFINITY,
    // One that is shared by sessions is to be one process, whoever speaks with it.
    prefersLegacy: sharing !== 'session',
    nowMs,
  });

  return {
    source,
    status: () => ({
      kind: 'stdio',
      state: failures.isFailing ? 'failing' : places.taken > 0 ? 'running' : 'idle',
      processes: places.taken,
      failures: failures.count(),
    }),
    async close() {
      clearInterval(look);
      stopWatching?.();
      await link.close();
      watchdog.close();
    },
  };
}
