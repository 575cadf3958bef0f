import type { Logger } from '../../observability/logger.ts';
import type { UpstreamLinkRow } from '../../storage/upstreams.ts';
import type { UpstreamFault } from '../upstream-fault.ts';

/** What happens between our grants and theirs that an operator may have to account for. */
export type BondEvent =
  | 'upstream.ended'
  | 'upstream.unavailable'
  | 'upstream.available'
  | 'upstream.revoked'
  | 'upstream.revocation_failed'
  | 'upstream.logout'
  | 'upstream.logout_refused';

/** What ended with a link or a session. */
export interface EndedThere {
  grants: number;
  logins?: number;
}

/** Takes note of what happens to links. */
export interface BondEvents {
  /** A link has ended, for the reason the upstream gave or ours. */
  ended(link: Pick<UpstreamLinkRow, 'upstream' | 'accountId'>, reason: string, ended: EndedThere): void;
  /** An upstream does not answer: noted once, until it answers again. */
  unavailable(upstream: string, fault: UpstreamFault): void;
  /** An upstream answers. */
  available(upstream: string): void;
  /** Tokens were renewed: a number, nothing to account for. */
  refreshed(upstream: string): void;
  /** Anything else. */
  note(event: BondEvent, details: Readonly<Record<string, string>>): void;
}

/** What notes are made with. */
export interface BondEventsOptions {
  /** Keeps an event in the audit log. */
  record: (event: BondEvent, details: Readonly<Record<string, string>>) => void;
  /** Counts what the audit log does not keep. */
  count: (event: 'upstream.refreshed') => void;
  logger: Pick<Logger, 'warn'>;
}

/** Creates the notes. An upstream that is down is one row, however many ask for it meanwhile. */
export function createBondEvents({ record, count, logger }: BondEventsOptions): BondEvents {
  const down = new Set<string>();
  const available = (upstream: string): void => {
    if (down.delete(upstream)) record('upstream.available', { upstream });
  };
  return {
    ended({ upstream, accountId }, reason, { grants, logins = 0 }) {
      record('upstream.ended', {
        upstream,
        accountId,
        reason,
        grants: String(grants),
        logins: String(logins),
      });
    },
    unavailable(upstream, fault) {
      if (down.has(upstream)) return;
      down.add(upstream);
      record('upstream.unavailable', { upstream, reason: fault.reason });
      logger.warn(
        { upstream, err: fault },
        'an upstream does not answer; what hangs on it stands for a grace',
      );
    },
    available,
    refreshed(upstream) {
      available(upstream);
      count('upstream.refreshed');
    },
    note: record,
  };
}
