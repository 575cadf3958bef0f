import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder of this user's logins: `$GATEHOUSE_HOME`, else `~/.gatehouse`.
 * @param env environment variables
 */
export function gatehouseHome(env: Readonly<Record<string, string | undefined>>): string {
  return env.GATEHOUSE_HOME || join(homedir(), '.gatehouse');
}
