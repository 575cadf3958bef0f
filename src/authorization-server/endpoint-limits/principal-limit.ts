import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { AuditTrail } from '../audit-trail.ts';
import { createLimiter, type Limit } from '../limits.ts';
import { createReached } from './answers.ts';
import type { LimitName } from './endpoint-limit.ts';

/** What the limit works with. */
export interface PrincipalLimitOptions {
  name: LimitName;
  limit: Limit;
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

/** Creates a limit of what one client does for one account, outside of the endpoints of the authorization server. */
export function createPrincipalLimit(options: PrincipalLimitOptions): PrincipalLimit {
  const { name, limit, auditTrail, logger, countEvent, countLimited } = options;
  const taken = createLimiter(limit);
  const reached = createReached(name, limit, countLimited);

  function write(details: Record<string, string>): void {
    auditTrail.note('limit.reached', details, () => {
      countEvent('limit.reached');
      logger.info({ audit: 'limit.reached', ...details });
    });
  }
  return {
    async take(caller) {
      const principal = principalKey(caller);
      const waitSeconds = await taken.take(principal);
      if (waitSeconds > 0)
        await reached(principal, (details) =>
          write({ ...details, accountId: caller.subject, clientId: caller.clientId }),
        );
      return waitSeconds;
    },
  };
}
