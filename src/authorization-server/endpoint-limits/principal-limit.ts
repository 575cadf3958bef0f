import { WindowCounts } from '../../collections/window-counts.ts';
import { type AuthInfo, accountKeyPrefix, principalKey } from '../../oauth/auth-info.ts';
import { loggable } from '../../observability/loggable.ts';
import type { Logger } from '../../observability/logger.ts';
import type { AuditTrail } from '../audit.ts';
import { createReached, type Limit, type Limiters, type LimitName } from '../limits.ts';

/** Options of the limit. */
export interface PrincipalLimitOptions {
  name: LimitName;
  limit: Limit;
  limiters: Limiters;
  auditTrail: AuditTrail;
  logger: Logger;
  /** Counts an event of the audit log. */
  countEvent: (event: string) => void;
  /** Counts a refused request. */
  countLimited: (limit: LimitName) => void;
}

/** Counts what one client does for one account. */
export interface PrincipalLimit {
  /** Counts one and gives 0, or, over the limit, counts nothing and gives the seconds until there is room again. */
  take(caller: AuthInfo): Promise<number>;
}

type Details = Record<string, string>;

/** Creates the record of a limit that callers have reached: in the audit log, the metrics and the log. */
function createWriter({
  auditTrail,
  countEvent,
  logger,
}: PrincipalLimitOptions): (caller: AuthInfo, details: Details) => void {
  return ({ subject, clientId }, given) => {
    const details = { ...given, accountId: subject, clientId };
    auditTrail.note('limit.reached', details, () => {
      countEvent('limit.reached');
      logger.info({ audit: 'limit.reached', ...details });
    });
  };
}

/** Creates a limit of what one client does for one account, outside of the endpoints of the authorization server. */
export function createPrincipalLimit(options: PrincipalLimitOptions): PrincipalLimit {
  const { name, limit, limiters, countLimited } = options;
  const taken = limiters.ofLoad(name, limit);
  const reached = createReached(name, limit, countLimited);
  const write = createWriter(options);
  return {
    async take(caller) {
      const principal = principalKey(caller);
      const waitSeconds = await taken.take(principal);
      if (waitSeconds > 0) await reached(principal, (details) => write(caller, details));
      return waitSeconds;
    },
  };
}

/** Counts the calls of tools by accounts, at one endpoint. */
export interface ToolCallLimit {
  /**
   * Counts the calls of one body, all of them or none.
   * @param tools the name of the tool of each call
   * @returns 0, or the seconds until there is room again
   */
  take(caller: AuthInfo, tools: readonly string[]): number;
}

/** Longest part of a name that is looked at, in characters: callers make names up, and each is held for a window. */
const maxToolLength = 128;

/**
 * Creates limits of how often an account calls a tool, whatever its clients (FA-32).
 * @returns creates the limit of the endpoint at a path
 * @see MCP 2025-11-25 tools "Security Considerations": servers MUST rate limit tool invocations
 */
export function createToolCallLimits(
  options: Omit<PrincipalLimitOptions, 'name'>,
): (path: string) => ToolCallLimit {
  const name = 'toolCalls';
  const { limit, limiters, countLimited } = options;
  const reached = createReached(name, limit, countLimited);
  const write = createWriter({ ...options, name });
  return (path) => {
    const share = limiters.sharing(`${name} ${path}`);
    const counts = new WindowCounts(limit.windowSeconds * 1000, () => performance.now(), share);
    return {
      take(caller, tools) {
        const account = accountKeyPrefix(caller);
        const taken: string[] = [];
        for (const tool of tools) {
          const key = tool.slice(0, maxToolLength);
          const waitMs = counts.take(account, key, limit.times);
          if (waitMs === 0) {
            taken.push(key);
            continue;
          }
          for (const each of taken) counts.giveBack(account, each);
          void reached(account + key, (details) => write(caller, { ...details, tool: loggable(tool) ?? '' }));
          return Math.ceil(waitMs / 1000);
        }
        return 0;
      },
    };
  };
}
