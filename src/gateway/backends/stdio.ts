import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { backendEnvironment } from './environment.ts';
import { createFailures } from './failures.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { Places } from './places.ts';
import { StdioServer } from './stdio-server.ts';
import { createWatchdog } from './watchdog.ts';

/** An MCP server that is a program, and speaks over its standard input and output. */
export interface StdioBackendOptions {
  /** The program: a path, or a name to look for in PATH. No shell reads it or its arguments (T-152). */
  command: string;
  args?: readonly string[];
  /** Names of variables of our environment it gets, beside PATH, HOME, LANG, TERM and TMPDIR; none by default. */
  env?: readonly string[];
  /** Most processes at once; 50 by default. An account has a fifth of them at most. */
  maxProcesses?: number;
  /** Longest line it may write, in bytes; 16 MiB by default. */
  maxLineBytes?: number;
  /** How long it may take to answer `initialize`, in milliseconds; 50 s by default, before clients give up. */
  startMs?: number;
}

/** Together less than what is left of the ten seconds between SIGTERM and SIGKILL when calls had their eight (T-181). */
const patience = { byItselfMs: 500, afterTermMs: 1000 };

const accountShare = 5;

/**
 * Creates a backend whose processes are started as they are needed: one for each MCP session, and one for the requests
 * of an account with a client that belong to none.
 * @param name what it is called in errors and in the log
 * @throws Error where a variable it is to be given is not set; RangeError where there may be no process
 */
export function createStdioBackend(
  name: string,
  options: StdioBackendOptions,
  { logger, nowMs = () => performance.now() }: { logger: Logger; nowMs?: () => number },
): GatewayBackend {
  const {
    command,
    args = [],
    maxProcesses = 50,
    maxLineBytes = 16 * 1024 * 1024,
    startMs = 50_000,
  } = options;
  if (!Number.isInteger(maxProcesses) || maxProcesses < 1)
    throw new RangeError('maxProcesses: must be a whole number from 1');
  const { env, secrets, missing } = backendEnvironment(options.env ?? [], process.env);
  if (missing.length > 0)
    throw new Error(
      `The environment has no ${missing.join(', ')}: set it, or do not name it for the backend.`,
    );
  const watchdog = createWatchdog(logger);
  const perAccount = Math.ceil(maxProcesses / accountShare);
  const places = new Places(name, { total: maxProcesses, perAccount }, nowMs);
  const failures = createFailures(() => Math.floor(Date.now() / 1000));
  const shared = { name, command, args, env, secrets, maxLineBytes, startMs, patience, failures };
  return {
    source: {
      sharing: 'principal',
      create({ authInfo }) {
        const account = authInfo ? accountKeyPrefix(authInfo) : '';
        return new StdioServer(account, { ...shared, places, watchdog, logger, nowMs });
      },
    },
    status: () => ({
      kind: 'stdio',
      state: failures.isFailing ? 'failing' : places.taken > 0 ? 'running' : 'idle',
      processes: places.taken,
      failures: failures.count(),
    }),
    close: () => watchdog.close(),
  };
}
