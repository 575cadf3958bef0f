import type { Logger } from '../../observability/logger.ts';
import type { UpstreamLinkRow } from '../../storage/upstreams.ts';
import type { UpstreamFault } from '../upstream-fault.ts';

/** Events of links to upstreams for the audit log. */
export type LinkEvent =
  | 'upstream.ended'
  | 'upstream.unavailable'
  | 'upstream.available'
  | 'upstream.revoked'
  | 'upstream.revocation_failed'
  | 'upstream.logout'
  | 'upstream.logout_refused';

/** The number of grants and logins that ended with a link or a session. */
export interface EndedByLink {
  grants: number;
  logins?: number;
}

/** Records events of links. */
export interface LinkEvents {
  /** A link has ended, for a reason of the upstream or of Gatehouse. */
  ended(link: Pick<UpstreamLinkRow, 'upstream' | 'accountId'>, reason: string, ended: EndedByLink): void;
  /** An upstream does not respond: recorded once, until it responds again. */
  unavailable(upstream: string, fault: UpstreamFault): void;
  /** An upstream responds. */
  available(upstream: string): void;
  /** Tokens were renewed: only counted. */
  refreshed(upstream: string): void;
  /** Any other event. */
  note(event: LinkEvent, details: Readonly<Record<string, string>>): void;
}

/** Options of {@link createLinkEvents}. */
export interface LinkEventsOptions {
  /** Writes an event to the audit log. */
  record: (event: LinkEvent, details: Readonly<Record<string, string>>) => void;
  /** Counts events that the audit log does not contain. */
  count: (event: 'upstream.refreshed') => void;
  logger: Pick<Logger, 'warn'>;
}

/** Creates the recorder. An upstream that is down is recorded once, for any number of requests. */
export function createLinkEvents({ record, count, logger }: LinkEventsOptions): LinkEvents {
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
