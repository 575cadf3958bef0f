import { join } from 'node:path';
import { isRefusal, readLineOfServer } from '../../../mcp/building-blocks.ts';
import type { JsonRpcError } from '../../../mcp/protocol.ts';
import { type AuthInfo, accountKeyPrefix } from '../../../oauth/auth-info.ts';
import type { CredentialSource } from '../../credentials/credentials.ts';
import { type AccountFolders, secretsOf } from './process-environment.ts';
import { inSandbox, type ProcessLimits, type SandboxOptions, withLimits } from './sandbox.ts';
import { StdioProcess, type StdioProcessOptions } from './stdio-process.ts';

/** Options for the processes of a backend. */
interface LauncherOptions extends Omit<StdioProcessOptions, 'folder'> {
  /** Environment variables of each account's processes beside `env`. */
  credentials?: Pick<CredentialSource, 'find'>;
  /** Working folders of the accounts' processes; by default they work in the folder of Gatehouse. */
  folders?: AccountFolders;
  limits?: ProcessLimits;
  /** Options of the sandbox; no sandbox if absent. */
  sandbox?: SandboxOptions;
  /** True if a spare process is always kept running; only if processes do not differ by account. */
  hasSpare?: boolean;
}

/** Launches processes. */
export interface Launcher {
  /**
   * Starts a process, or returns the spare one.
   * @param caller owner; absent for a process that serves everybody
   * @returns the process, or the error for a caller that gets none
   * @throws the reason of a failed start, which was logged
   */
  launch(caller: AuthInfo | undefined): Promise<StdioProcess | { error: JsonRpcError }>;
  /** Number of spare processes. */
  readonly spares: number;
  /** Ends the spare process. */
  close(): void;
}

/** Creates the launcher of a backend. */
export function createLauncher(options: LauncherOptions): Launcher {
  const { credentials, folders, limits = {}, sandbox, hasSpare = false } = options;
  const { name, command, args, logger } = options;
  const limited = withLimits({ command, args }, limits, sandbox !== undefined);

  const start = (env: Readonly<Record<string, string>>, folder?: string): StdioProcess => {
    const home = folder ?? (sandbox && '/tmp');
    return new StdioProcess({
      ...options,
      ...(sandbox ? inSandbox(limited, sandbox, folder) : limited),
      ...(folder === undefined ? {} : { folder }),
      env: { ...options.env, ...(home === undefined ? {} : homeOf(home)), ...env },
      secrets: [...options.secrets, ...secretsOf(env)],
    });
  };
  const spare = hasSpare ? createSpare(() => start({})) : undefined;

  const startFor = async (caller: AuthInfo | undefined): ReturnType<Launcher['launch']> => {
    const found = caller && credentials ? await credentials.find(caller) : {};
    if ('error' in found) return found;
    const folder = caller && folders?.of(accountKeyPrefix(caller));
    const process = spare?.take() ?? start(found.env ?? {}, folder);
    if (caller) process.account = accountKeyPrefix(caller);
    return process;
  };

  return {
    async launch(caller) {
      try {
        return await startFor(caller);
      } catch (error) {
        logger.error({ err: error, backend: name }, 'a backend could not be started');
        throw error;
      }
    },
    get spares() {
      return spare?.count ?? 0;
    },
    close: () => spare?.close(),
  };
}

function homeOf(folder: string): Record<string, string> {
  return { HOME: folder, TMPDIR: folder === '/tmp' ? folder : join(folder, 'tmp') };
}

/** Milliseconds between the use of the spare process and the start of the next: the caller is served first. */
const restMs = 1000;

/** A process that is started before it is needed. */
interface Spare {
  /** Returns the spare process, and starts another soon; undefined if there is none. */
  take(): StdioProcess | undefined;
  /** Number of spare processes: one or none. */
  readonly count: number;
  close(): void;
}

/**
 * Creates a spare process soon, and another after each that was taken. A spare process that ends by itself is not
 * restarted until a process is needed, so that a failing program is not started endlessly.
 */
export function createSpare(start: () => StdioProcess): Spare {
  let waiting: StdioProcess | undefined;
  let isClosed = false;

  const prepare = (): void => {
    if (isClosed || waiting) return;
    const started = start();
    waiting = started;
    started.listener = {
      // The gateway is its client already: a program that pings gets its answer (FA-41).
      line(bytes) {
        const messages = readLineOfServer(bytes, started.maxLineValues);
        if (messages === undefined || isRefusal(messages)) return;
        for (const { id, method } of messages.requests)
          if (method === 'ping') started.write({ jsonrpc: '2.0', id, result: {} });
      },
      tooLong() {},
      gone() {
        if (waiting === started) waiting = undefined;
        void started.end();
      },
    };
  };
  setImmediate(prepare);

  return {
    take() {
      const taken = waiting;
      waiting = undefined;
      setTimeout(prepare, restMs).unref();
      return taken?.isGone ? undefined : taken;
    },
    get count() {
      return waiting ? 1 : 0;
    },
    close() {
      isClosed = true;
      void waiting?.end();
      waiting = undefined;
    },
  };
}
