import type { Limiters, RouteForms } from '../authorization-server/index.ts';
import type { NodeBus } from '../cluster/bus.ts';
import { relayChanges, relayCircuits } from '../cluster/relays.ts';
import type { TextSeal } from '../crypto/sealed-box.ts';
import { accountMark } from '../crypto/secret.ts';
import {
  type AssertCallerOptions,
  type BackendTracer,
  checkFits,
  createAggregate,
  createAssertCaller,
  createBackendSpans,
  createCredentials,
  createGuards,
  createMemberPinning,
  createOwnership,
  createPersonValue,
  createRemoteBackend,
  createStdioBackend,
  createSteps,
  createUpstreamValue,
  type EnteredValues,
  type GatewayBackend,
  joinChanges,
  type Memory,
  maxHeaderClaims,
  type PersonalCredentials,
  type PlacedValue,
  type RemoteBackendOptions,
  readOperatorValue,
  type StdioBackendOptions,
  type StepsOptions,
  type TaskOwners,
  type UpstreamTokenSource,
  withSteps,
  withWaitingServers,
} from '../gateway/index.ts';
import { createSealedCursors, type HeldBytes } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { CredentialSettings } from '../settings/credentials.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { RoutesSettings } from '../settings/routes.ts';

/** An MCP server behind the gate: a program, or a server reached by URL. */
export type BackendOptions = (StdioBackendOptions | RemoteBackendOptions) & {
  /** Name on the consent page and in errors. Default: the host of the public URL. */
  name?: string;
};

/** The settings of one route. */
type RouteSettings = RoutesSettings[string];

/** One backend of a route. */
interface RouteBackend {
  /** Its key, if the route has several backends. */
  key?: string | undefined;
  /** Its place in the settings. */
  place: string;
  /** Name that people see. */
  name: string;
  options: StdioBackendOptions | RemoteBackendOptions;
  /** Credentials that it is given on behalf of its callers; undefined for none. */
  credentials?: PersonalCredentials | undefined;
}

/** Parts of the signed assertions about callers. */
export interface CallerAssertions extends Pick<AssertCallerOptions, 'issuer' | 'signing' | 'now'> {}

/** Parts of {@link composeRouteBackend}. */
export interface RouteBackendParts {
  /** Name of the route that people see. */
  name: string;
  /** URL of its MCP endpoint: the audience of assertions for programs. */
  mcpUrl: string;
  assertions: CallerAssertions;
  /** Pins of its definitions. */
  pins: Memory;
  /** Owners of the tasks at its backend. */
  owners: TaskOwners;
  seal: TextSeal;
  /** Counts the bytes of responses while they are read; without it each backend counts its own. */
  held?: HeldBytes | undefined;
  /** Shares the counts of calls with other nodes. */
  sharing?: Limiters['sharing'] | undefined;
  /** Carries messages between nodes; absent if there is one. */
  bus?: NodeBus | undefined;
  /** Returns the tracer of the requests to a backend; absent if calls are not traced. */
  tracerOf?: ((backend: { key?: string | undefined; isProgram: boolean }) => BackendTracer) | undefined;
  logger: Logger;
}

type SharedParts = Pick<RouteBackendParts, 'held' | 'logger' | 'mcpUrl' | 'assertions'>;

/**
 * Composes the backend of a route, behind the policy steps of its settings: one backend, or several with keys as one. The
 * steps apply to the names that clients see.
 * @throws SettingsRefused
 */
export function composeRouteBackend(
  {
    backends,
    policy,
    cache,
  }: { backends: readonly RouteBackend[] } & Pick<RouteSettings, 'policy' | 'cache'>,
  parts: RouteBackendParts,
): GatewayBackend {
  const { name, pins, owners, seal, bus, logger } = parts;
  const relay = bus && relayChanges(bus, pins.route, 'steps');
  const keyed: Parameters<typeof createAggregate>[1][number][] = [];
  try {
    for (const each of backends)
      if (each.key !== undefined)
        keyed.push({
          ...{ key: each.key, name: each.name, backend: composeMember(each, policy, parts) },
          relay: bus && relayChanges(bus, pins.route, `member/${each.key}`),
        });
  } catch (error) {
    for (const { backend } of keyed) void backend.close();
    throw error;
  }
  const areGuarded = keyed.length > 0;
  const only = backends[0] as RouteBackend;
  const backend = areGuarded
    ? createAggregate(name, keyed, { cursors: createSealedCursors(seal, pins.route), logger })
    : composeBackend(only, parts);
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
    shareCalls: parts.sharing?.(`calls of route ${pins.route}`),
    relay,
    isToldCaller: backends.some(({ options }) => options.caller !== undefined),
    ...sharingOf(only),
    ...(!areGuarded && { circuits: circuitsOf(only, parts) }),
  });
  return {
    source: withSteps(
      backend.source,
      areGuarded ? steps.list : [...steps.list, ...spansOf(only, parts)],
      logger,
      relay,
    ),
    status: () => ({ ...backend.status(), ...(!areGuarded && { circuits: steps.breaker.status() }) }),
    async close() {
      steps.close();
      await backend.close();
    },
  };
}

/** Composes one of several backends, with its own circuit breaker, time limit and pinned instructions. */
function composeMember(
  member: RouteBackend,
  policy: RouteSettings['policy'],
  parts: SharedParts & Pick<RouteBackendParts, 'pins' | 'bus' | 'tracerOf'>,
): GatewayBackend {
  const { logger, pins } = parts;
  const backend = composeBackend(member, parts);
  const pinning = createMemberPinning(member.key ?? member.name, { pins, policy, logger });
  const guards = createGuards({
    ...{ name: member.name, policy, logger, circuits: circuitsOf(member, parts) },
    ...sharingOf(member),
  });
  return {
    source: withSteps(backend.source, [...guards.list, pinning.step, ...spansOf(member, parts)], logger),
    status: () => ({ ...backend.status(), circuits: guards.breaker.status() }),
    close() {
      guards.close();
      pinning.close();
      return backend.close();
    },
  };
}

/** Returns the step that traces the requests to a backend, if calls are traced. */
function spansOf(
  { key, options }: RouteBackend,
  { tracerOf }: Pick<RouteBackendParts, 'tracerOf'>,
): Parameters<typeof withSteps>[1] {
  return tracerOf ? [createBackendSpans(tracerOf({ key, isProgram: !('url' in options) }))] : [];
}

/** Returns the relay of the circuits of a server that all nodes reach by its URL. Each node has programs of its own. */
function circuitsOf(
  { key = '', options }: RouteBackend,
  { bus, pins }: Pick<RouteBackendParts, 'bus' | 'pins'>,
): StepsOptions['circuits'] {
  return bus && 'url' in options ? relayCircuits(bus, JSON.stringify([pins.route, key])) : undefined;
}

/**
 * Composes a backend without policy steps. Starts no process and sends no request before the first call.
 * @throws SettingsRefused
 */
function composeBackend(
  { place, name, options, credentials }: RouteBackend,
  { held, logger, mcpUrl, assertions }: SharedParts,
): GatewayBackend {
  const given = credentials && { credentials };
  const assert = createAssertCaller({
    ...assertions,
    ...('url' in options ? { audience: options.url, maxBytes: maxHeaderClaims } : { audience: mcpUrl }),
  });
  try {
    const backend =
      'url' in options
        ? createRemoteBackend(name, options, { held, logger, assert, ...given })
        : createStdioBackend(name, { ...options, ...given }, { held, logger, assert });
    return credentials
      ? { ...backend, source: withWaitingServers(backend.source, credentials, { name, logger }) }
      : backend;
  } catch (error) {
    throw new SettingsRefused([`${place}: ${(error as Error).message}`]);
  }
}

/**
 * Returns what the circuit breaker has to know: if one backend serves everybody, if it is given something personal, and
 * who is told that it rejected a credential.
 */
function sharingOf({
  options,
  credentials,
}: RouteBackend): Pick<StepsOptions, 'isOneForAll' | 'isPersonal' | 'refusable'> {
  return {
    refusable: credentials,
    isOneForAll: 'url' in options || options.process === 'shared',
    isPersonal:
      credentials !== undefined ||
      options.caller !== undefined ||
      ('accountFolders' in options && options.accountFolders !== undefined),
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

/** Parts of {@link composeRouteCredentials}. */
export interface RouteCredentialsParts {
  /** The public URL. */
  issuer: string;
  /** Environment variables of this process. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Credentials that people entered. */
  entered: EnteredValues;
  /** Names of the upstreams in the settings. */
  upstreams: readonly string[];
  /** Returns the name of an upstream that people see. */
  labelOf(upstream: string): string;
  tokens: UpstreamTokenSource;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** The credentials of a route. */
export interface RouteCredentials {
  /** Credentials for its backend; undefined for none. */
  source: PersonalCredentials | undefined;
  /** Forms in which people enter their credentials. */
  forms: RouteForms;
}

/** A route with the settings of its credentials. */
export interface RouteWithCredentials {
  /** Its name in the settings. */
  route: string;
  /** Name that people see. */
  name: string;
  credentials: CredentialSettings;
}

/**
 * Composes the credentials of a route.
 * @throws SettingsRefused naming every credential that cannot be read
 */
export function composeRouteCredentials(
  { route, name: backend, credentials }: RouteWithCredentials,
  parts: RouteCredentialsParts,
): RouteCredentials {
  const { issuer, environment, entered, upstreams, labelOf, tokens, logger, now } = parts;
  const problems: string[] = [];
  const forms: RouteForms['credentials'][number][] = [];
  const pageOf = (path: string) => (accountId: string) =>
    `${issuer}/account/${path}/${accountMark(accountId)}`;

  const placed = Object.entries(credentials).flatMap(
    ([name, { as, from, label = name, help }]): PlacedValue[] => {
      const place = `routes.${route}.credentials.${name}.from`;
      if (from === 'person') {
        forms.push({ name, label, help, check: (value) => checkFits(as, value) });
        const urlFor = pageOf(`credentials/${route}`);
        return [
          {
            as,
            value: createPersonValue({ issuer, route, name, as, backend, label, urlFor, entered, logger }),
          },
        ];
      }
      if ('upstream' in from) {
        const { upstream, scopes = [] } = from;
        if (!upstreams.includes(upstream))
          problems.push(`${place}.upstream: there is no upstream ${upstream}`);
        const urlFor = pageOf(`upstreams/${upstream}/link`);
        const isKept = 'env' in as;
        const options = { issuer, backend, upstream, labelOf, scopes, tokens, urlFor, isKept, now, logger };
        return [{ as, value: createUpstreamValue(options) }];
      }
      const read = readOperatorValue(from, environment);
      if ('problem' in read) problems.push(`${place}: ${read.problem}`);
      else if (checkFits(as, read.value))
        problems.push(
          `${place}: has characters that are not allowed ${'header' in as ? 'in a header' : 'there'}`,
        );
      else return [{ as, value: read.value }];
      return [];
    },
  );
  if (problems.length > 0) throw new SettingsRefused(problems);
  return {
    source: placed.length === 0 ? undefined : createCredentials(placed),
    forms: { route, label: backend, credentials: forms },
  };
}
