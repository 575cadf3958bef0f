import type { AuditTrail, LinkStanding, TakeLogoutToken } from '../authorization-server/index.ts';
import type { SealedBox } from '../crypto/sealed-box.ts';
import { hashSecret } from '../crypto/secret.ts';
import { createOperatorFetch } from '../net/operator-fetch.ts';
import type { Slip } from '../oauth/foreign-json.ts';
import { loggable } from '../observability/loggable.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Settings } from '../options.ts';
import type { AccessWatch } from '../resource-server/index.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { Storage } from '../storage/storage.ts';
import {
  type CallerApi,
  checkUpstreams,
  createBackChannelLogout,
  createCallerApi,
  createCallerTokens,
  createLinkEvents,
  createLinkStatus,
  createUpstreams,
  findSharedIssuers,
  type KnownResource,
  type LinkEvents,
  type LinkStatus,
  startLinkMonitor,
  type UsedLogoutTokens,
} from '../upstream/index.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { createVault, type Vault } from '../upstream/vault.ts';
import type { RouteCredentialsParts } from './route-backend.ts';

/** Parts of {@link composeUpstreamAccess}. */
export interface UpstreamAccessParts
  extends Omit<UpstreamParts, 'publicUrl'>,
    Omit<BondParts, 'upstreams' | 'vault'> {
  issuer: string;
  box: SealedBox;
}

/** The upstreams of an installation, and the ways by which its other parts use them. */
export interface InstallationUpstreams {
  upstreams: Upstreams;
  vault: Vault;
  bond: Bond;
  /** The tokens of callers at upstreams. */
  tokens: ReturnType<typeof createCallerTokens>;
  /** The fetch for tools; undefined if there is no upstream. */
  callerApi: CallerApi | undefined;
}

/**
 * Composes the upstreams with their bond to grants, the tokens of callers, and the fetch for tools.
 * @throws SettingsRefused see {@link composeUpstreams}
 */
export async function composeUpstreamAccess(parts: UpstreamAccessParts): Promise<InstallationUpstreams> {
  const { settings, storage, issuer, box, now } = parts;
  const upstreams = await composeUpstreams({ ...parts, publicUrl: issuer });
  const vault = createVault(box, now);
  const bond = composeBond({ ...parts, upstreams, vault });
  const { standing } = bond;
  const links = storage.upstreams;
  const tokens = createCallerTokens({ links, standing, now });
  const dangerouslyFromLoopback = settings.dangerously.upstreamsOverHttp;
  const callerApi = composeCallerApi({ upstreams, tokens, dangerouslyFromLoopback, issuer });
  return { upstreams, vault, bond, tokens, callerApi };
}

/**
 * Returns the use of upstreams by backends, which are composed before the upstreams.
 * @param access returns the upstreams, once they are composed
 */
export function laterAccess(
  access: () => InstallationUpstreams,
): Pick<RouteCredentialsParts, 'labelOf' | 'tokens'> {
  return {
    labelOf: (name) => access().upstreams.find(name)?.label ?? name,
    tokens: {
      token: (...asked) => access().tokens.token(...asked),
      holds: (...asked) => access().tokens.holds(...asked),
    },
  };
}

/** Parts of {@link composeUpstreams}. */
export interface UpstreamParts {
  settings: Pick<Settings, 'upstreams' | 'dangerously'>;
  publicUrl: string;
  /** All protected resources. */
  resources: readonly KnownResource[];
  /** Environment variables, which upstreams may name for secrets. */
  environment: Readonly<Record<string, string | undefined>>;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Composes the upstreams. Sends no request to any of them yet.
 * @throws SettingsRefused if they name a resource that does not exist, or a file or variable that cannot be read
 */
export async function composeUpstreams({
  settings,
  publicUrl,
  resources,
  environment,
  logger,
  now,
}: UpstreamParts): Promise<Upstreams> {
  const misfits = checkUpstreams(settings.upstreams, resources);
  const { upstreams, problems } = await createUpstreams(settings.upstreams, {
    publicUrl,
    dangerouslyFromLoopback: settings.dangerously.upstreamsOverHttp,
    environment,
    now,
    tolerated: logTolerated(logger),
  });
  const wrong = [...misfits, ...problems, ...findSharedIssuers(upstreams.all)];
  if (wrong.length > 0) throw new SettingsRefused(wrong);
  return upstreams;
}

/** Logs each mistake of an upstream that was tolerated: the first time at `info`, later at `debug`. */
function logTolerated(logger: Logger): (upstream: string, slip: Slip) => void {
  const logged = new Set<string>();
  return (upstream, { tolerance, because }) => {
    const level = logged.has(`${upstream} ${tolerance}`) ? 'debug' : 'info';
    logged.add(`${upstream} ${tolerance}`);
    logger[level]({ tolerance, upstream, because: loggable(because) }, `slip ${tolerance} tolerated`);
  };
}

/** Parts of {@link composeBond}. */
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

/** The connection between Gatehouse's grants and the logins at upstreams they came from. */
export interface Bond {
  /** Options for the authorization server. */
  options: { linkStanding: LinkStanding; takeLogoutToken: TakeLogoutToken };
  standing: LinkStatus;
  /** Stops the background work, and resolves when it has stopped. */
  close(): Promise<void>;
}

/**
 * Composes the link checks, the back-channel logout and the link monitor. Without upstreams nothing runs in the
 * background: grants from an upstream that was removed from the settings are rejected, but not ended.
 */
export function composeBond(parts: BondParts): Bond {
  const { upstreams, storage, vault, metrics, logger, now } = parts;
  const events = recordBondEvents(parts);
  const standing = createLinkStatus({ store: storage.upstreams, vault, upstreams, events, now });
  const takeLogoutToken = createBackChannelLogout({
    upstreams,
    store: storage.upstreams,
    used: storeUsedLogoutTokens(storage.artifacts),
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
    'Links whose upstream does not answer.',
    () => standing.load().unreachable,
  );
  return { options, standing, close: keeper.close };
}

function recordBondEvents({ auditTrail, metrics, logger }: BondParts): LinkEvents {
  return createLinkEvents({
    record(event, details) {
      // Anybody can send something in place of a logout token: such events are only counted in the audit log.
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

/** Stores used logout tokens in the database, so that every process rejects them, also after a restart. */
function storeUsedLogoutTokens(artifacts: Storage['artifacts']): UsedLogoutTokens {
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

/**
 * Adds checks of upstream links to the watch of open streams: if the upstream ends the login, the streams of its user
 * end, even without a call (T-091).
 */
export function watchLinkedAccess(access: AccessWatch, standing: Pick<LinkStatus, 'hold'>): AccessWatch {
  return {
    ...access,
    watch(authInfo, onEnd, renewal) {
      if (authInfo.upstreamLinkId === undefined) return access.watch(authInfo, onEnd, renewal);
      const release = standing.hold(authInfo.upstreamLinkId);
      const end = (): void => {
        release();
        onEnd();
      };
      const stop = access.watch(authInfo, end, renewal);
      return () => {
        release();
        stop();
      };
    },
  };
}

/** Parts of {@link composeCallerApi}. */
export interface CallerApiParts {
  upstreams: Upstreams;
  tokens: ReturnType<typeof createCallerTokens>;
  /** Allows APIs on loopback addresses, without https. */
  dangerouslyFromLoopback: boolean;
  issuer: string;
}

/** Maximum response of an API, in bytes: tools get it whole. */
const maxBytes = 16 * 1024 * 1024;

/** Maximum time of one request to an API, in milliseconds. */
const timeoutMs = 30_000;

/** Composes the fetch by which tools call APIs of upstreams. @returns undefined if there is no upstream */
export function composeCallerApi(parts: CallerApiParts): CallerApi | undefined {
  const { upstreams, tokens, dangerouslyFromLoopback, issuer } = parts;
  if (upstreams.all.length === 0) return undefined;
  return createCallerApi({
    upstreams,
    tokens,
    fetchOf: ({ settings: { allowPrivateNetwork } }) =>
      createOperatorFetch({
        allowPrivateNetwork,
        dangerouslyFromLoopback,
        maxBytes,
        timeoutMs,
        redirects: 'given',
      }),
    dangerouslyFromLoopback,
    accountUrl: `${issuer}/account`,
  });
}
