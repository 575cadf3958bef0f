import type { AuditTrail, LinkStanding, TakeLogoutToken } from '../authorization-server/index.ts';
import { hashSecret } from '../crypto/secret.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { createBackChannelLogout, type UsedLogoutTokens } from '../upstream/links/back-channel-logout.ts';
import { createLinkEvents, type LinkEvents } from '../upstream/links/link-events.ts';
import { startLinkMonitor } from '../upstream/links/link-monitor.ts';
import { createLinkStatus, type LinkStatus } from '../upstream/links/link-status.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import type { Vault } from '../upstream/vault.ts';

/** What the bond between our grants and logins at upstreams is made of. */
export interface BondParts {
  upstreams: Upstreams;
  storage: Pick<Storage, 'artifacts' | 'upstreams'>;
  vault: Vault;
  auditTrail: AuditTrail;
  metrics: Pick<Metrics, 'countEvent' | 'watch'>;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** The bond of an installation. */
export interface Bond {
  /** What the authorization server asks of it. */
  options: { linkStanding: LinkStanding; takeLogoutToken: TakeLogoutToken };
  standing: LinkStatus;
  /** Ends its background work; resolves when nothing of it runs any more. */
  close(): Promise<void>;
}

/**
 * Composes the bond. Without upstreams nothing of it runs; what hangs on a login at one that was taken out of the settings
 * is not honoured then, and not ended either.
 */
export function composeBond(parts: BondParts): Bond {
  const { upstreams, storage, vault, metrics, logger, now } = parts;
  const events = noteInTrail(parts);
  const standing = createLinkStatus({ store: storage.upstreams, vault, upstreams, events, now });
  const takeLogoutToken = createBackChannelLogout({
    upstreams,
    store: storage.upstreams,
    used: keepUsedTokens(storage.artifacts),
    events,
  });
  const options = { linkStanding: standing, takeLogoutToken };
  if (upstreams.all.length === 0) return { options, standing, close: () => standing.idle() };

  const keeper = startLinkMonitor({
    store: storage.upstreams,
    vault,
    upstreams,
    standing,
    events,
    logger,
    now,
  });
  metrics.watch(
    'gatehouse_upstream_links',
    'Links to accounts at upstreams that this process knows.',
    () => standing.load().links,
  );
  metrics.watch(
    'gatehouse_upstream_links_unreachable',
    'Those of them whose upstream does not answer.',
    () => standing.load().unreachable,
  );
  return { options, standing, close: keeper.close };
}

function noteInTrail({ auditTrail, metrics, logger }: BondParts): LinkEvents {
  return createLinkEvents({
    record(event, details) {
      // Anybody can send something in place of a logout token.
      const take = event === 'upstream.logout_refused' ? auditTrail.tally : auditTrail.note;
      take(event, details, () => {
        metrics.countEvent(event);
        logger.info({ audit: event, ...details });
      });
    },
    count: metrics.countEvent,
    logger,
  });
}

/** A logout token is used in all processes on the database, and after a restart as well. */
function keepUsedTokens(artifacts: Storage['artifacts']): UsedLogoutTokens {
  const kind = 'LogoutToken';
  const idOf = (upstream: string, jti: string): string => hashSecret(kind, `${upstream} ${jti}`);
  return {
    isUsed: async (upstream, jti) => (await artifacts.find(kind, idOf(upstream, jti))) !== undefined,
    async use(upstream, jti, expiresAt) {
      const payload = new Uint8Array();
      await artifacts.commit([{ type: 'put', kind, id: idOf(upstream, jti), payload, expiresAt }]);
    },
  };
}
