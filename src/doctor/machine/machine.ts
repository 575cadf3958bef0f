import { homedir } from 'node:os';
import { join } from 'node:path';

/** The machine the client runs on, as far as checks look at it. Tests give folders of their own. */
export interface Machine {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user. */
  home: string;
  /** Folder the doctor was started in; hosts keep configuration of a project there. */
  workingFolder: string;
  /** Top of the file system: `/` but in tests. Marks of containers stand below. */
  root: string;
  /** `process.versions.node`. */
  nodeVersion: string;
  /** Flags of the running Node, `process.execArgv`. */
  nodeFlags: readonly string[];
  /** Numeric id of the user; undefined if the platform has none. */
  userId: number | undefined;
  /** Epoch milliseconds. */
  nowMs: () => number;
}

/**
 * The running machine.
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

/** @returns the folder of this user's logins on a machine: `$GATEHOUSE_HOME`, else `~/.gatehouse` */
export function storeFolder({ env, home }: Pick<Machine, 'env' | 'home'>): string {
  return env.GATEHOUSE_HOME || join(home, '.gatehouse');
}
