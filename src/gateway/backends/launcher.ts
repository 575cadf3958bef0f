import { join } from 'node:path';
import type { JsonRpcError } from '../../mcp/protocol.ts';
import { type AuthInfo, accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { CredentialSource } from '../credentials/credentials.ts';
import type { AccountFolders } from './account-folders.ts';
import { secretsOf } from './environment.ts';
import { type ProcessLimits, withLimits } from './limits.ts';
import { inSandbox, type SandboxOptions } from './sandbox.ts';
import { createSpare } from './spare.ts';
import { StdioProcess, type StdioProcessOptions } from './stdio-process.ts';

/** Options for the processes of a backend. */
export interface LauncherOptions extends Omit<StdioProcessOptions, 'folder'> {
  /** Environment of each account's processes beside `env`; none if absent. */
  credentials?: CredentialSource;
  /** Working folder of each account's processes; our own folder if absent. */
  folders?: AccountFolders;
  limits?: ProcessLimits;
  /** True if they are put into a sandbox, and which. */
  sandbox?: SandboxOptions;
  /** True if a process is always started before it is needed; false if processes differ by account. */
  hasSpare?: boolean;
}

/** Starts processes. */
export interface Launcher {
  /**
   * Starts a process, or gives one that was started before and that nobody had.
   * @param caller whose it is; absent if it serves everybody
   * @returns why this caller gets none
   * @throws what stood in the way, after it was logged
   */
  launch(caller: AuthInfo | undefined): Promise<StdioProcess | { error: JsonRpcError }>;
  /** Processes that wait for somebody. */
  readonly spares: number;
  /** Ends those that wait. */
  close(): void;
}

/** Creates what starts the processes of a backend. */
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
