import type { JsonRpcError } from '../../mcp/conversations/conversation.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { CredentialSource } from '../credentials/credentials.ts';
import { secretsOf } from './environment.ts';
import { StdioProcess, type StdioProcessOptions } from './stdio-process.ts';

/** What processes of a backend are started with. */
export interface LauncherOptions extends StdioProcessOptions {
  /** What each account's processes get beside `env`; nothing without it. */
  credentials?: CredentialSource;
}

/** Starts processes. */
export interface Launcher {
  /**
   * Starts a process.
   * @param caller whose it is; absent where it serves everybody
   * @returns why this caller gets none
   */
  launch(caller: AuthInfo | undefined): Promise<StdioProcess | { error: JsonRpcError }>;
}

/** Creates what starts the processes of a backend. */
export function createLauncher({ credentials, ...options }: LauncherOptions): Launcher {
  return {
    async launch(caller) {
      const found = caller && credentials ? await credentials.find(caller) : {};
      if ('error' in found) return found;
      const { env = {} } = found;
      return new StdioProcess({
        ...options,
        env: { ...options.env, ...env },
        secrets: [...options.secrets, ...secretsOf(env)],
      });
    },
  };
}
