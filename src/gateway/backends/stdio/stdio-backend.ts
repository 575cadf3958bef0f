import { HeldBytes } from '../../../mcp/building-blocks.ts';
import type { Message, ServerSource } from '../../../mcp/protocol.ts';
import { type AuthInfo, accountKeyPrefix } from '../../../oauth/auth-info.ts';
import type { Logger } from '../../../observability/logger.ts';
import { type AssertCaller, assertWithoutKeys } from '../../credentials/caller-assertion.ts';
import {
  checkCallerVariables,
  checkNames,
  createCallerVariables,
  type StdioCallerOptions,
} from '../../credentials/caller-values.ts';
import type { CredentialSource } from '../../credentials/credentials.ts';
import { createModernSource, type LegacySource } from '../../modern/modern-source.ts';
import { createFailures, type GatewayBackend } from '../gateway-backend.ts';
import { withAssertion } from '../message-rewrites.ts';
import { Restarts } from '../restarts.ts';
import { createLauncher, type Launcher } from './launcher.ts';
import { LegacyProcess } from './legacy-process.ts';
import { backendEnvironment, createAccountFolders } from './process-environment.ts';
import { createGroupWatch, createWatchdog, type Watchdog } from './process-groups.ts';
import { ProcessPool } from './process-pool.ts';
import { checkLimits, checkSandbox, type ProcessLimits, type SandboxOptions } from './sandbox.ts';
import { createStdioLink, sharerKey } from './stdio-link.ts';

/** Options of a backend that is a program and speaks MCP over its standard input and output. */
export interface StdioBackendOptions {
  /** Path of the program, or a name that is looked up in PATH. No shell interprets it or its arguments (T-152). */
  command: string;
  args?: readonly string[];
  /**
   * Names of environment variables that are passed on, or variables with their values; PATH, HOME, LANG, TERM and
   * TMPDIR are always passed on.
   */
  env?: readonly string[] | Readonly<Record<string, string>>;
  /** Sharing of processes; `session` by default. */
  process?: ProcessSharing;
  /** Maximum number of processes; 50 by default. An account has at most a fifth of them. */
  maxProcesses?: number;
  /** Seconds until an idle process is stopped; an hour by default. */
  idleSeconds?: number;
  /** Maximum length of a line of output, in bytes; 16 MiB by default. */
  maxLineBytes?: number;
  /** Maximum number of values in a line, arrays and objects included; 50,000 by default. */
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
  /** Environment variables of each account's processes. Not with `process: 'shared'`. */
  credentials?: CredentialSource;
  /** Data about its callers; none by default. No variables with `process: 'shared'`. */
  caller?: StdioCallerOptions | undefined;
  /**
   * A folder that contains a private folder for each account: its processes work there, with it as HOME and TMPDIR. By
   * default all processes work in the folder of Gatehouse. Not with `process: 'shared'`.
   */
  accountFolders?: string;
  /** Resource limits of each process; none by default. */
  limits?: ProcessLimits;
  /** Options of the bubblewrap sandbox; no sandbox by default. */
  sandbox?: SandboxOptions;
  /** Number of processes that are started in advance; none by default. Not possible if processes differ by account. */
  spare?: 0 | 1;
}

/**
 * Sharing of a process. - `session`: each session has its own; requests of one account and client outside of sessions
 * share one. - `account`: all sessions and clients of an account share one. - `shared`: all accounts share one. Only
 * for programs that store nothing about a user: they cannot send requests to a client.
 */
export type ProcessSharing = 'session' | 'account' | 'shared';

const sharings: Readonly<Record<ProcessSharing, ServerSource['sharing']>> = {
  session: 'principal',
  account: 'account',
  shared: 'everyone',
};

/** Dependencies of a backend of programs. */
interface StdioBackendParts {
  logger: Logger;
  /** Signs assertions about callers. */
  assert?: AssertCaller | undefined;
  /** Counts the bytes of incoming responses, also for other backends; a counter of its own by default. */
  held?: HeldBytes | undefined;
  nowMs?: () => number;
}

/**
 * Times for the end of a process. Together they fit into the ten seconds between SIGTERM and SIGKILL, of which running
 * calls have eight (T-181).
 */
const patience = { byItselfMs: 500, afterTermMs: 1000 };

const accountShare = 5;

const longestLookMs = 30_000;

/** Part of `startMs` that a caller of 2026-07-28 waits until it is known if the program speaks that revision. */
const probeShare = 2 / 5;

/**
 * Creates a backend that starts processes when they are needed.
 * @param name name in errors and in the log
 * @throws Error if an environment variable is not set, or if personal credentials would reach everybody; RangeError for
 *   `maxProcesses`
 */
export function createStdioBackend(
  name: string,
  options: StdioBackendOptions,
  {
    logger,
    assert = assertWithoutKeys,
    held = new HeldBytes(),
    nowMs = () => performance.now(),
  }: StdioBackendParts,
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
  const pool = new ProcessPool(name, { total, perAccount }, nowMs);
  const restarts = new Restarts(nowMs);
  const failures = createFailures(() => Math.floor(Date.now() / 1000));
  const { caller } = options;
  const stamp = caller?.assertion
    ? <M extends Message>(request: M, from: AuthInfo | undefined): M =>
        from ? withAssertion(request, assert(from)) : request
    : undefined;
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
    ...((credentials || caller?.env) && { credentials: withVariables(credentials, caller) }),
    ...(accountFolders !== undefined && { folders: createAccountFolders(accountFolders) }),
    ...(limits && { limits }),
    ...(sandbox && { sandbox }),
    hasSpare: spare > 0,
  });
  /** Each with the key of the callers that share it. */
  const servers = new Map<LegacyProcess, string>();
  const look = setInterval(() => pool.endIdle(idleMs), Math.min(idleMs / 2, longestLookMs)).unref();
  const stopWatching = credentials?.onChange((owner) => {
    const account = accountKeyPrefix(owner);
    link.renew(owner);
    for (const server of servers.keys()) if (server.account === account) server.replace();
  });

  const older: LegacySource = {
    sharing: sharings[sharing],
    create({ authInfo }, start) {
      const server = new LegacyProcess(authInfo ? accountKeyPrefix(authInfo) : '', {
        ...{ name, start, pool, restarts, failures, pingMs, pings: pings.legacy, logger, nowMs },
        // A program that is slow to start is not started twice.
        adopt: () => link.release(authInfo, patienceMs),
        launch: () => launcher.launch(authInfo),
        ...(stamp && { stamp: (request, sender = authInfo) => stamp(request, sender) }),
        onClose: () => servers.delete(server),
      });
      servers.set(server, sharerKey(sharing, authInfo));
      return server;
    },
  };
  const launch = (caller: AuthInfo | undefined): ReturnType<Launcher['launch']> => launcher.launch(caller);
  const link = createStdioLink({
    ...{ name, sharing, startMs, pool, restarts, pingMs, pings: pings.modern, launch, nowMs },
    ...(stamp && { stamp }),
    // A process that has rejected `initialize` need not be started again for 2026-07-28.
    adopt(caller) {
      const key = sharerKey(sharing, caller);
      for (const [server, sharer] of servers) {
        const given = sharer === key ? server.release() : undefined;
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
    isPersonal: caller !== undefined,
    nowMs,
  });

  return {
    source,
    status: () => ({
      kind: 'stdio',
      state: failures.isFailing ? 'failing' : pool.taken > 0 ? 'running' : 'idle',
      processes: pool.taken + launcher.spares,
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

/** Adds the variables about a caller to the credentials of the caller's processes. */
function withVariables(
  credentials: CredentialSource | undefined,
  caller: StdioCallerOptions = {},
): Pick<CredentialSource, 'find'> {
  const addVariables = createCallerVariables(caller);
  return {
    async find(authInfo) {
      const found = credentials ? await credentials.find(authInfo) : {};
      return 'error' in found ? found : addVariables(found, authInfo);
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
  const { env = [], caller = {} } = options;
  const fixed = Array.isArray(env) ? new Set(env) : Object.keys(env);
  checkNames('variable', [...fixed, ...Object.keys(caller.env ?? {})]);
  checkCallerVariables(caller, { process: sharing ?? 'session', spare });
  if (limits) checkLimits(limits);
  if (sandbox) checkSandbox(sandbox);
}

/** Counts the processes of each group, too, if their number is limited. */
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
