import type { TextSeal } from '../crypto/sealed-box.ts';
import {
  createAggregate,
  createGuards,
  createMemberPinning,
  createOwnership,
  createRemoteBackend,
  createStdioBackend,
  createSteps,
  type GatewayBackend,
  joinChanges,
  type Memory,
  type PersonalCredentials,
  type RemoteBackendOptions,
  type StdioBackendOptions,
  type StepsOptions,
  type TaskOwners,
  withSteps,
  withWaitingServers,
} from '../gateway/index.ts';
import type { HeldBytes } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { RoutesSettings } from '../settings/routes.ts';

/** An MCP server that code puts behind the gate: a program, or one that is reached by URL. */
export type BackendOptions = (StdioBackendOptions | RemoteBackendOptions) & {
  /** What people call it; stands on the consent page and in errors. The host of the public URL by default. */
  name?: string;
};

/** The settings of one route. */
export type RouteSettings = RoutesSettings[string];

/** One backend of a route: the only one, or one of several. */
export interface RouteBackend {
  /** Its key, where there are several. */
  key?: string | undefined;
  /** Where it stands in the settings. */
  place: string;
  /** What people call it. */
  name: string;
  options: StdioBackendOptions | RemoteBackendOptions;
  /** What it is given on behalf of its callers; nothing without it. */
  credentials?: PersonalCredentials | undefined;
}

/** What the backend of a route is composed with. */
export interface RouteBackendParts {
  /** What people call the route. */
  name: string;
  /** Where its definitions are pinned. */
  pins: Memory;
  /** The owners of the tasks at its backend. */
  owners: TaskOwners;
  seal: TextSeal;
  /** Counts the bytes of answers while they are read; each backend has a count of its own without it. */
  held?: HeldBytes | undefined;
  logger: Logger;
}

type Shared = Pick<RouteBackendParts, 'held' | 'logger'>;

/**
 * Composes a backend. It starts nothing, and asks nobody, before it is needed.
 * @throws SettingsRefused naming what is wrong
 */
function composeBackend(
  { place, name, options, credentials }: RouteBackend,
  { held, logger }: Shared,
): GatewayBackend {
  const given = credentials && { credentials };
  try {
    const backend =
      'url' in options
        ? createRemoteBackend(name, options, { held, logger, ...given })
        : createStdioBackend(name, { ...options, ...given }, { held, logger });
    return credentials
      ? { ...backend, source: withWaitingServers(backend.source, credentials, { name, logger }) }
      : backend;
  } catch (error) {
    throw new SettingsRefused([`${place}: ${(error as Error).message}`]);
  }
}

/**
 * Says for whom a backend may fail by itself: whether it is one for all, whether it is given what is a person's own, and
 * what hears where it does not accept that.
 */
function sharingOf({
  options,
  credentials,
}: RouteBackend): Pick<StepsOptions, 'isOneForAll' | 'isPersonal' | 'refusable'> {
  return {
    refusable: credentials,
    isOneForAll: 'url' in options || options.process === 'shared',
    isPersonal:
      credentials !== undefined || ('accountFolders' in options && options.accountFolders !== undefined),
  };
}

/**
 * Returns what several principals share at a backend: the connection, or the route and perhaps a credential. A process for
 * each session shares nothing.
 */
function sharedAt(options: RouteBackend['options']): 'route' | 'connection' | undefined {
  if ('url' in options) return 'route';
  const { process: sharing = 'session' } = options;
  return sharing === 'session' ? undefined : 'connection';
}

/** Composes one of several backends, with a breaker, a time limit and pinned instructions of its own. */
function composeMember(
  wanted: RouteBackend,
  policy: RouteSettings['policy'],
  parts: Shared & Pick<RouteBackendParts, 'pins'>,
): GatewayBackend {
  const { logger, pins } = parts;
  const backend = composeBackend(wanted, parts);
  const pinning = createMemberPinning(wanted.key ?? wanted.name, { pins, policy, logger });
  const { list, breaker } = createGuards({ name: wanted.name, policy, logger, ...sharingOf(wanted) });
  return {
    source: withSteps(backend.source, [...list, pinning], logger),
    status: () => ({ ...backend.status(), circuits: breaker.status() }),
    close: () => backend.close(),
  };
}

/**
 * Composes the backend of a route, behind the steps that its settings ask for: one, or several with keys as one. These
 * steps count for the names that clients know.
 * @throws SettingsRefused naming what is wrong
 */
export function composeRouteBackend(
  {
    backends,
    policy,
    cache,
  }: { backends: readonly RouteBackend[] } & Pick<RouteSettings, 'policy' | 'cache'>,
  parts: RouteBackendParts,
): GatewayBackend {
  const { name, pins, owners, seal, logger } = parts;
  const keyed: { key: string; name: string; backend: GatewayBackend }[] = [];
  try {
    for (const wanted of backends)
      if (wanted.key !== undefined)
        keyed.push({ key: wanted.key, name: wanted.name, backend: composeMember(wanted, policy, parts) });
  } catch (error) {
    for (const { backend } of keyed) void backend.close();
    throw error;
  }
  const areGuarded = keyed.length > 0;
  const only = backends[0] as RouteBackend;
  const backend = areGuarded ? createAggregate(name, keyed, { logger }) : composeBackend(only, parts);
  const credentials = joinChanges(backends.flatMap(({ credentials: each }) => each ?? []));
  const sharing = areGuarded ? 'route' : sharedAt(only.options);
  const ownership =
    sharing &&
    createOwnership({
      ...{ route: pins.route, owners, seal, logger, now: pins.now },
      sharesConnections: sharing === 'connection',
    });
  const steps = createSteps({
    ...{ name, ownership, policy, cache, pins, credentials, logger, areGuarded },
    ...sharingOf(only),
  });
  return {
    source: withSteps(backend.source, steps.list, logger),
    status: () => ({ ...backend.status(), ...(!areGuarded && { circuits: steps.breaker.status() }) }),
    async close() {
      steps.close();
      await backend.close();
    },
  };
}
