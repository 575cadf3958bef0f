import { HeldBytes } from '../../mcp/building-blocks.ts';
import type { ServerSource } from '../../mcp/protocol.ts';
import { type AuthInfo, accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CredentialSource } from '../credentials/credentials.ts';
import { createModernSource, type LegacySource } from '../modern/modern-source.ts';
import { createStdioLink, sharerKey } from '../modern/stdio-link.ts';
import { createAccountFolders } from './account-folders.ts';
import { backendEnvironment } from './environment.ts';
import { createFailures } from './failures.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { createGroupWatch } from './group-watch.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { checkLimits, type ProcessLimits } from './limits.ts';
import { Places } from './places.ts';
import { Restarts } from './restarts.ts';
import { checkSandbox, type SandboxOptions } from './sandbox.ts';
import { StdioServer } from './stdio-server.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

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
  /** Sharing of processes; `session` by default. */
  process?: ProcessSharing;
  /** Most processes at once; 50 by default. An account has a fifth of them at most. */
  maxProcesses?: number;
  /** Seconds that an unused process is kept; an hour by default. */
  idleSeconds?: number;
  /** Longest line it may write, in bytes; 16 MiB by default. */
  maxLineBytes?: number;
  /** Most values in a line, arrays and objects included; 50,000 by default. */
  maxAnswerValues?: number;
  /**
   * Milliseconds that the response to `initialize` may take; 50 s by default, less than clients wait. The time for
   * detecting its revisions counts.
   */
  startMs?: number;
  /**
   * Seconds of silence until a process is pinged; 30 by default, 0 for never. A process that misses pings is replaced.
   */
  pingSeconds?: number;
  /** Environment of each account's processes; not for processes that everybody shares. */
  credentials?: CredentialSource;
  /**
   * A folder in which each account has a private one: its processes work there, and have it as HOME and TMPDIR. Without
   * it all work in our folder. Not with processes that everybody shares.
   */
  accountFolders?: string;
  /** Resource limits of each process; none by default. */
  limits?: ProcessLimits;
  /** The sandbox of bubblewrap its processes run in; none by default. */
  sandbox?: SandboxOptions;
  /** Number of processes started in advance; none by default, and none if processes differ by account. */
  spare?: 0 | 1;
}

/**
 * Sharing of a process. - `session`: nobody; the requests of one account with one client that belong to no session
 * share one. - `account`: all sessions and clients of an account. - `shared`: everybody. For programs that keep nothing
 * of a person: they cannot ask their client anything.
 */
export type ProcessSharing = 'session' | 'account' | 'shared';

const sharings: Readonly<Record<ProcessSharing, ServerSource['sharing']>> = {
  session: 'principal',
  account: 'account',
  shared: 'everyone',
};

/** Parts of a backend of programs. */
export interface StdioBackendParts {
  logger: Logger;
  /** Counts the bytes of answers, those of other backends among them; of this one alone by default. */
  held?: HeldBytes | undefined;
  nowMs?: () => number;
}

/** Together less than what is left of the ten seconds between SIGTERM and SIGKILL when calls had their eight (T-181). */
const patience = { byItselfMs: 500, afterTermMs: 1000 };

const accountShare = 5;

const longestLookMs = 30_000;

/** For which part of the time of a start a caller of 2026-07-28 waits until it is known whether the program speaks it. */
const probeShare = 2 / 5;

/**
 * Creates a backend whose processes are started as they are needed.
 * @param name name in errors and in the log
 * @throws Error if a variable it is to be given is not set, or what one person has would go to everybody; RangeError if
 *   there may be no process
 */
export function createStdioBackend(
  name: string,
  options: StdioBackendOptions,
  { logger, held = new HeldBytes(), nowMs = () => performance.now() }: StdioBackendParts,
): GatewayBackend {
  const { command, args = [], process: sharing = 'session', credentials } = options;
  const { maxProcesses = 50, maxLineBytes = 16 * 1024 * 1024, startMs = 50_000, spare = 0 } = options;
  const patienceMs = startMs * probeShare;
  const idleMs = (options.idleSeconds ?? 3600) * 1000;
  const pingMs = (options.pingSeconds ?? 30) * 1000;
  const pings = { legacy: { isAnswered: false }, modern: { isAnswered: false } };
  checkOptions(options);
  const { env, secrets, missing } = backendEnvironment(options.env ?? [], process.env);
  if (missing.length > 0)
    throw new Error(
      `The environment has no ${missing.join(', ')}: set it, or do not name it for the backend.`,
    );
  const { limits, sandbox, accountFolders } = options;
  const watchdog = watchGroups(name, createWatchdog(logger), limits?.processes, logger);
  const total = maxProcesses - spare;
  const perAccount = sharing === 'session' ? Math.ceil(total / accountShare) : 1;
  const places = new Places(name, { total, perAccount }, nowMs);
  const restarts = new Restarts(nowMs);
  const failures = createFailures(() => Math.floor(Date.now() / 1000));
  const launcher = createLauncher({
    ...{
      name,
      command,
      args,
      env,
      secrets,
      maxLineBytes,
      maxLineValues: options.maxAnswerValues,
      held,
      patience,
      watchdog,
      logger,
      nowMs,
    },
    ...(credentials && { credentials }),
    ...(accountFolders !== undefined && { folders: createAccountFolders(accountFolders) }),
    ...(limits && { limits }),
    ...(sandbox && { sandbox }),
    hasSpare: spare > 0,
  });
  /** With the key of those who share it. */
  const servers = new Map<StdioServer, string>();
  const look = setInterval(() => places.endIdle(idleMs), Math.min(idleMs / 2, longestLookMs)).unref();
  const stopWatching = credentials?.onChange((owner) => {
    const account = accountKeyPrefix(owner);
    link.renew(owner);
    for (const server of servers.keys()) if (server.account === account) server.startAnew();
  });

  const older: LegacySource = {
    sharing: sharings[sharing],
    create({ authInfo }, start) {
      const server = new StdioServer(authInfo ? accountKeyPrefix(authInfo) : '', {
        ...{ name, start, places, restarts, failures, pingMs, pings: pings.legacy, logger, nowMs },
        // One that is slow to start is not started twice.
        takeOver: () => link.giveAway(authInfo, patienceMs),
        launch: () => launcher.launch(authInfo),
        onClose: () => servers.delete(server),
      });
      servers.set(server, sharerKey(sharing, authInfo));
      return server;
    },
  };
  const launch = (caller: AuthInfo | undefined): ReturnType<Launcher['launch']> => launcher.launch(caller);
  const link = createStdioLink({
    ...{ name, sharing, startMs, idleMs, places, restarts, pingMs, pings: pings.modern, launch, nowMs },
    // What has refused `initialize` need not be started again to be asked in 2026-07-28.
    takeOver(caller) {
      const key = sharerKey(sharing, caller);
      for (const [server, sharer] of servers) {
        const given = sharer === key ? server.giveAway() : undefined;
        if (given) return given;
      }
      return undefined;
    },
  });
  const source = createModernSource({
    name,
    legacy: older,
    link,
    worked: () => failures.mended(),
    noteFailure: ({ reason }) => failures.note(reason),
    startMs,
    probeMs: startMs,
    patienceMs,
    // A program that has said so is another one when it is started anew by an operator.
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
      processes: places.taken + launcher.spares,
      failures: failures.count(),
    }),
    async close() {
      clearInterval(look);
      stopWatching?.();
      await link.close();
      launcher.close();
      watchdog.close();
    },
  };
}

function checkOptions(options: StdioBackendOptions): void {
  const {
    maxProcesses = 50,
    process: sharing,
    credentials,
    accountFolders,
    limits,
    sandbox,
    spare = 0,
  } = options;
  const least = 1 + spare;
  if (!Number.isInteger(maxProcesses) || maxProcesses < least)
    throw new RangeError(`maxProcesses: must be a whole number from ${least}`);
  const isPersonal = credentials !== undefined || accountFolders !== undefined;
  if (sharing === 'shared' && isPersonal)
    throw new Error(
      'process: "shared" is for programs without personal credentials and folders; use "account".',
    );
  if (spare > 0 && isPersonal)
    throw new Error('spare: a process with personal credentials or a folder cannot be started for nobody.');
  if (limits) checkLimits(limits);
  if (sandbox) checkSandbox(sandbox);
}

/** Has groups counted, too, if they may not grow beyond a number of processes. */
function watchGroups(name: string, watchdog: Watchdog, most: number | undefined, logger: Logger): Watchdog {
  if (most === undefined) return watchdog;
  const { watch } = createGroupWatch(name, most, logger);
  const watched = new Map<number, () => void>();
  return {
    begun(group) {
      watchdog.begun(group);
      watched.set(group, watch(group));
    },
    ended(group) {
      watchdog.ended(group);
      watched.get(group)?.();
      watched.delete(group);
    },
    close: () => watchdog.close(),
  };
}
