import { statSync } from 'node:fs';
import type { Limiters } from '../authorization-server/index.ts';
import type { NodeBus } from '../cluster/bus.ts';
import type { TextSeal } from '../crypto/sealed-box.ts';
import type { GatewayBackend, Memory } from '../gateway/index.ts';
import type { RouteRecording } from '../ledger/index.ts';
import type { HeldBytes } from '../mcp/index.ts';
import { callerFields } from '../oauth/caller-fields.ts';
import type { Logger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import {
  completeScopes,
  findRouteMethodProblems,
  type NormalizedServer,
  type OwnServer,
  readOwnServer,
} from '../protected-server.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { cacheSettings, policySettings, recordingSettings } from '../settings/policy.ts';
import { backendsOf, credentialsFor, pathOfRoute } from '../settings/routes.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { BackendObjects } from './backend-state.ts';
import {
  type BackendOptions,
  type CallerAssertions,
  composeRouteBackend,
  composeRouteCredentials,
  type RouteBackendParts,
  type RouteCredentials,
  type RouteCredentialsParts,
} from './route-backend.ts';

/** An MCP server that the settings or the code ask for, and its place. It does not run yet. */
export interface ResolvedRoute {
  /** Its unique name. */
  key: string;
  /** Path below the public URL; empty for the public URL itself. */
  path: string;
  /** Changes if any setting of the route changes, or a file that it names. */
  fingerprint: string;
  /** Settings of its calls in the call ledger. */
  recording: RouteRecording;
  /** Upstreams and personal credentials that its backends get, by the key of the backend; empty for the only one. */
  credentials: ReadonlyMap<string, string>;
  /**
   * Creates the server. It starts no process before the first call.
   * @throws SettingsRefused
   */
  make(): { server: NormalizedServer; backend?: GatewayBackend; forms?: RouteCredentials['forms'] };
}

/** Parts that all backends share. */
export interface BackendParts {
  /** The public URL. */
  issuer: string;
  /** Returns the pinned definitions of a route. */
  pinDefinitions: (route: string) => Memory;
  /** Binds the objects that backends keep to their callers. */
  objects: BackendObjects;
  seal: TextSeal;
  /** Parts of the signed assertions about callers. */
  assertions: CallerAssertions;
  /** Counts the bytes of responses while they are read; without it each backend counts its own. */
  held?: HeldBytes | undefined;
  /** Shares the counts of calls with other nodes. */
  sharing?: Limiters['sharing'] | undefined;
  /** Carries messages between nodes; absent if there is one. */
  bus?: NodeBus | undefined;
  /** Traces calls; absent if none is traced. */
  tracing?: Pick<Tracing, 'backendOf'> | undefined;
  logger: Logger;
}

/** Key of the server that the code provides. */
const providedKey = 'server';

/** Name under which the state of a backend of the code is stored; no route of the settings has this name. */
const providedRoute = '/';

/**
 * Lists the servers of an installation: the server of the code, and the routes of the settings. The first one is for
 * clients that name none: it is the server at the public URL itself, if there is one.
 * @param provided `given` creates the server of the code; `otherwise` creates the server that runs if there is no route
 * @throws SettingsRefused if two servers have one path
 */
export function resolveRoutes(
  settings: Pick<Settings, 'routes'>,
  provided: { given: ResolvedRoute['make'] | undefined; otherwise: ResolvedRoute['make'] },
  parts: BackendParts & RouteCredentialsParts,
): ResolvedRoute[] {
  const configured = resolveConfiguredRoutes(settings, parts);
  const make = provided.given ?? (configured.length === 0 ? provided.otherwise : undefined);
  const atRoot = configured.find(({ path }) => path === '');
  if (!make) return atRoot ? [atRoot, ...configured.filter((each) => each !== atRoot)] : configured;
  if (atRoot)
    throw new SettingsRefused([
      `routes.${atRoot.key}.path: / is the path of the server that is given as server or backend`,
    ]);
  const recording = recordingSettings.parse(undefined);
  const provider = {
    key: providedKey,
    path: '',
    fingerprint: providedKey,
    recording,
    credentials: new Map(),
  };
  return [{ ...provider, make }, ...configured];
}

/**
 * Creates the function that lists the servers of an installation, see {@link resolveRoutes}.
 * @param provided the server or backend of the code, and the server that runs if there is no other
 */
export function createRouteResolver(
  provided: { server: OwnServer | undefined; backend: BackendOptions | undefined; otherwise: OwnServer },
  parts: BackendParts & RouteCredentialsParts,
): (settings: Pick<Settings, 'routes'>) => ResolvedRoute[] {
  const { server, backend } = provided;
  const own = (of: OwnServer) => () => ({ server: readOwnServer(of, parts.issuer) });
  const given = backend ? () => makeBackend(backend, parts) : server && own(server);
  const otherwise = own(provided.otherwise);
  return (settings) => resolveRoutes(settings, { given, otherwise }, parts);
}

/** Lists the routes of the settings, in their order. */
export function resolveConfiguredRoutes(
  { routes }: Pick<Settings, 'routes'>,
  parts: BackendParts & RouteCredentialsParts,
): ResolvedRoute[] {
  const { issuer, pinDefinitions, objects, seal, assertions, held, sharing, bus, tracing, logger } = parts;
  return Object.entries(routes).map(([key, route]) => {
    const path = pathOfRoute(key, route);
    const name = route.name ?? (path === '' ? new URL(issuer).host : key);
    return {
      key,
      path,
      fingerprint: `${JSON.stringify(route)}\n${fingerprintFiles(route)}`,
      recording: route.calls,
      credentials: namePersonal(route.credentials),
      make() {
        const all = backendsOf(route).map(({ key: of, place, backend }) => {
          const backendName = of === undefined ? name : `${name}/${of}`;
          const { source, forms } = composeRouteCredentials(
            { route: key, name: backendName, credentials: credentialsFor(route.credentials, of) },
            parts,
          );
          const at = `routes.${key}.${place}`;
          return { key: of, place: at, name: backendName, options: backend, credentials: source, forms };
        });
        const { policy, cache } = route;
        const problems = findRouteMethodProblems(`routes.${key}`, route);
        if (problems.length > 0) throw new SettingsRefused(problems);
        const kept = { pins: pinDefinitions(key), owners: objects.tasksOf(key) };
        const backend = composeRouteBackend(
          { backends: all, policy, cache },
          {
            ...{ name, mcpUrl: `${issuer}${path}/mcp`, ...kept },
            ...{ seal, assertions, held, sharing, bus, tracerOf: tracerOf(tracing, path), logger },
          },
        );
        const credentials = all.flatMap(({ forms }) => forms.credentials);
        const forms = { route: key, label: name, credentials };
        const server = {
          ...{ name, source: backend.source, methods: policy.methods, ...completeScopes(route) },
          learns: all.flatMap(({ options }) => fieldsLearnedBy(options)),
        };
        return { server, backend, forms };
      },
    };
  });
}

/** Returns the upstreams and personal credentials of a route, by the key of their backend, joined by commas. */
function namePersonal(credentials: Settings['routes'][string]['credentials']): Map<string, string> {
  const names = new Map<string, string>();
  for (const [credential, { backend = '', from }] of Object.entries(credentials)) {
    const isUpstream = typeof from === 'object' && 'upstream' in from;
    if (from !== 'person' && !isUpstream) continue;
    const name = isUpstream ? from.upstream : credential;
    const before = names.get(backend);
    names.set(backend, before === undefined ? name : `${before},${name}`);
  }
  return names;
}

/**
 * Creates the server for a backend of the code.
 * @throws SettingsRefused
 */
export function makeBackend(
  { name: given, ...options }: BackendOptions,
  { issuer, pinDefinitions, objects, seal, assertions, held, sharing, bus, tracing, logger }: BackendParts,
): ReturnType<ResolvedRoute['make']> {
  const name = given ?? new URL(issuer).host;
  const policy = policySettings.parse(undefined);
  const cache = cacheSettings.parse(undefined);
  const backend = composeRouteBackend(
    { backends: [{ place: 'backend', name, options }], policy, cache },
    {
      name,
      mcpUrl: `${issuer}/mcp`,
      assertions,
      pins: pinDefinitions(providedRoute),
      owners: objects.tasksOf(providedRoute),
      seal,
      held,
      sharing,
      bus,
      tracerOf: tracerOf(tracing, ''),
      logger,
    },
  );
  const learns = fieldsLearnedBy(options);
  return { server: { name, source: backend.source, learns, ...completeScopes({}) }, backend };
}

/** Returns the data about its callers that a backend gets. An assertion contains all. */
function fieldsLearnedBy({
  caller,
}: Pick<BackendOptions, 'caller'>): NonNullable<NormalizedServer['learns']> {
  if (!caller) return [];
  if (caller.assertion) return [...callerFields, 'claims'];
  return Object.values(
    ('env' in caller ? caller.env : 'headers' in caller ? caller.headers : undefined) ?? {},
  );
}

function tracerOf(tracing: BackendParts['tracing'], path: string): RouteBackendParts['tracerOf'] {
  return tracing && ((backend) => tracing.backendOf(path || '/', backend));
}

/**
 * Returns a text that changes if a file named in settings was written again, or came or went. Does not read the files.
 * @param settings searched for members called `file`
 */
export function fingerprintFiles(settings: unknown): string {
  return filesIn(settings).map(fingerprintFile).join('\n');
}

function filesIn(settings: unknown): string[] {
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([name, value]) =>
    name === 'file' && typeof value === 'string' ? [value] : filesIn(value),
  );
}

function fingerprintFile(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return JSON.stringify([file, stats && [stats.ino, stats.mtimeNs, stats.size].map(String)]);
}
