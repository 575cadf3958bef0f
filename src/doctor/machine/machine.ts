import { homedir } from 'node:os';
import { join } from 'node:path';

/** The client's machine as the checks see it. Tests use folders of their own. */
export interface Machine {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user. */
  home: string;
  /** Folder in which the doctor was started, which may contain the configuration of a project. */
  workingFolder: string;
  /** Root of the file system, in which containers leave marks: `/` except in tests. */
  root: string;
  /** `process.versions.node`. */
  nodeVersion: string;
  /** Flags of the running Node, `process.execArgv`. */
  nodeFlags: readonly string[];
  /** Numeric id of the user, if the platform has one. */
  userId: number | undefined;
  /** Epoch milliseconds. */
  nowMs: () => number;
}

/**
 * Returns the running machine.
 * @param env environment variables
 */
export function thisMachine(env: Machine['env']): Machine {
  return {
    platform: process.platform,
    env,
    home: homedir(),
    workingFolder: process.cwd(),
    root: '/',
    nodeVersion: process.versions.node,
    nodeFlags: process.execArgv,
    userId: process.getuid?.(),
    nowMs: () => Date.now(),
  };
}

/** Returns the folder of the user's logins: `$GATEHOUSE_HOME` or `~/.gatehouse`. */
export function storeFolder({ env, home }: Pick<Machine, 'env' | 'home'>): string {
  return env.GATEHOUSE_HOME || join(home, '.gatehouse');
}
