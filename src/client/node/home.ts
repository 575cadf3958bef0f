import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the folder of this user's logins: `$GATEHOUSE_HOME`, else `~/.gatehouse`. A file of its own, because
 * the program needs it before its other modules are loaded.
 */
export function gatehouseHome(env: Readonly<Record<string, string | undefined>>): string {
  return env.GATEHOUSE_HOME || join(homedir(), '.gatehouse');
}
