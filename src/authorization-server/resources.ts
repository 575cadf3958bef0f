import { errors, type ResourceServer } from 'oidc-provider';
import { canonicalResource } from '../oauth/resource-indicator.ts';
import { formatScope, parseScope } from '../oauth/scope.ts';
import { undecidedResource } from './engine/granted-scopes.ts';
import type { KeptArguments, Learnable } from './learned-facts.ts';
import { tolerate } from './tolerances.ts';

/** A protected resource tokens are issued for. */
export interface ProtectedResource {
  /** Its canonical URL: the `resource` clients ask for and the audience of its tokens (RFC 8707). */
  resource: string;
  /** Display name on the consent page. */
  name: string;
  /** Scopes, each with the sentence the consent page shows. */
  scopes: Record<string, string>;
  /** Scopes of a client that requests none. */
  baselineScopes: readonly string[];
  /** True if its access tokens have to be bound to a key of the client (RFC 9449); they need not by default. */
  dpopRequired?: boolean;
  /**
   * Format of its access tokens: opaque, looked up here, or a JWT that anybody can verify (RFC 9068); opaque by
   * default.
   */
  accessTokenFormat?: 'opaque' | 'jwt';
  /** Life of its access tokens, in seconds, if it differs from that of others. */
  accessTokenSeconds?: number;
  /** Confidential clients that may introspect its access tokens; none by default (RFC 7662). */
  introspectedBy?: readonly string[];
  /** Data about its callers that the server gets; none by default. */
  learns?: readonly Learnable[];
  /** Part of the arguments of calls that the operator keeps; a hash by default. */
  keptArguments?: KeptArguments;
  /** The servers to choose from, of an {@link undecidedResource}; a token is issued for none of it. */
  choices?: readonly ProtectedResource[];
}

/** Names of the tools that scopes of a resource open. */
export interface ScopeTools {
  byScope: Readonly<Record<string, readonly string[]>>;
  /** Tools that need no scope. */
  free: readonly string[];
}

/**
 * Lists the tools that the requested scopes would open for an account. `not_yet`: the server has not listed its tools,
 * for example because it is starting; undefined if the resource is served elsewhere. Never throws.
 */
export type ToolsOf = (asked: {
  accountId: string;
  clientId: string;
  resource: string;
  scopes: readonly string[];
}) => Promise<ScopeTools | 'not_yet' | undefined>;

/**
 * The resources of an installation. The first is the default for clients that name none (2025-03-26, A7-06). They may
 * change while the server runs: keep the registry, not what it gives.
 */
export interface ResourceRegistry {
  /** Every scope of every resource, in order, once. */
  readonly scopes: readonly string[];
  readonly default: ProtectedResource;
  /** True if any client may introspect tokens of any resource. */
  readonly hasIntrospection: boolean;
  /**
   * Returns the resource an indicator means: itself, or, as far as the tolerances of the installation go, in another
   * spelling (A7-02). The URL of a folder below which one server alone stands, such as the issuer or the origin, means
   * the first resource of it as well: some clients shorten it so. Undefined for any other (T-023).
   */
  find(indicator: string): ProtectedResource | undefined;
  /**
   * Returns the resource that a request means that names none: the only one with its scopes, or an undecided one.
   * @param scopes of the request, without those of the authorization server itself
   */
  findUnnamed(scopes: readonly string[]): ProtectedResource;
  /**
   * Replaces all resources. No more tokens are issued for a removed one.
   * @throws TypeError if there is none, or if one has no canonical URL; then nothing changes
   */
  replace(resources: readonly ProtectedResource[]): void;
}

/**
 * Creates the registry.
 * @param resources at least one, each with a canonical URL; those of one server share their scopes
 * @throws TypeError if that does not hold
 */
export function createResourceRegistry(resources: readonly ProtectedResource[]): ResourceRegistry {
  let now = arrange(resources);
  return {
    get scopes() {
      return now.scopes;
    },
    get default() {
      return now.first;
    },
    get hasIntrospection() {
      return now.hasIntrospection;
    },
    find(indicator) {
      const exact = now.known.get(indicator);
      if (exact) return exact;
      const canonical = canonicalResource(indicator);
      if (canonical === undefined) return undefined;
      const meant = now.known.get(canonical);
      const because = `resource ${indicator}`;
      if (meant) return tolerate('resourceSpelling', because) ? meant : undefined;
      const shortened = now.shortened.get(canonical);
      return shortened && tolerate('shortenedResource', because) ? shortened : undefined;
    },
    findUnnamed: (scopes) => now.findUnnamed(scopes),
    replace(others) {
      now = arrange(others);
    },
  };
}

/** Look-ups of resources, built once. */
function arrange(resources: readonly ProtectedResource[]) {
  const [first] = resources;
  if (!first) throw new TypeError('an authorization server needs at least one protected resource');
  for (const { resource } of resources) {
    if (canonicalResource(resource) !== resource)
      throw new TypeError(`not a canonical resource URL: ${resource}`);
  }
  const servers = serversBeside(first, resources);
  const undecided = (resource: string): ProtectedResource => ({
    resource,
    name: new URL(first.resource).host,
    scopes: Object.assign({}, ...servers.map(({ scopes }) => scopes)),
    baselineScopes: [...new Set(servers.flatMap(({ baselineScopes }) => baselineScopes))],
    choices: servers,
  });
  const toChoose = servers.length > 1 ? Object.values(undecidedResource).map(undecided) : [];
  const [scoped, unscoped] = toChoose;
  return {
    first,
    known: new Map([...resources, ...toChoose].map((entry) => [entry.resource, entry])),
    findUnnamed(scopes: readonly string[]): ProtectedResource {
      const fitting = servers.filter((server) =>
        scopes.every((scope) => Object.hasOwn(server.scopes, scope)),
      );
      if (scopes.length > 0 && fitting.length === 1 && fitting[0]) return fitting[0];
      return (scopes.length > 0 ? scoped : unscoped) ?? first;
    },
    shortened: shortenedUrls(first, resources),
    scopes: [...new Set(resources.flatMap((entry) => Object.keys(entry.scopes)))],
    hasIntrospection: resources.some(({ introspectedBy = [] }) => introspectedBy.length > 0),
  };
}

/** The servers at the origin of the first resource, each by its first resource. */
function serversBeside(
  first: ProtectedResource,
  resources: readonly ProtectedResource[],
): ProtectedResource[] {
  const { origin } = new URL(first.resource);
  const neighbours = resources.filter(({ resource }) => new URL(resource).origin === origin);
  return [...Map.groupBy(neighbours, ({ scopes }) => scopes).values()].flatMap(([server]) => server ?? []);
}

/** URLs of folders below which one server alone stands, at the origin of the first, each with the resource it means. */
function shortenedUrls(
  first: ProtectedResource,
  resources: readonly ProtectedResource[],
): Map<string | undefined, ProtectedResource> {
  const { origin } = new URL(first.resource);
  const neighbours = resources.filter(({ resource }) => new URL(resource).origin === origin);
  const standsAlone = (folder: string): boolean =>
    new Set(neighbours.filter(({ resource }) => resource.startsWith(folder)).map(({ scopes }) => scopes))
      .size === 1;
  return new Map(
    serversBeside(first, resources).flatMap((entry) =>
      ['.', '/']
        .map((shorter) => new URL(shorter, entry.resource).href)
        .filter(standsAlone)
        .map((folder) => [canonicalResource(folder), entry] as const),
    ),
  );
}

/**
 * Rewrites `resource` parameters to the canonical form of the resource they mean; unknown ones stay as they are and
 * the engine refuses them (trap: the engine compares them as raw strings).
 */
export function canonicalizeResources(parameters: URLSearchParams, resources: ResourceRegistry): boolean {
  const asked = parameters.getAll('resource');
  if (asked.every((value) => resources.find(value)?.resource === value)) return false;
  const meant = asked
    .flatMap((value) => splitJoined(value, resources))
    .map((value) => resources.find(value)?.resource ?? value);
  if (asked.length === meant.length && asked.every((value, index) => value === meant[index])) return false;
  parameters.delete('resource');
  for (const value of new Set(meant)) parameters.append('resource', value);
  return true;
}

/** Takes a value apart that joins several resources of ours. */
function splitJoined(value: string, resources: ResourceRegistry): string[] {
  const parts = value.split(/[\s,]+/);
  const isJoined = parts.length > 1 && parts.every((part) => resources.find(part) !== undefined);
  return isJoined && tolerate('joinedResources', `resource ${value}`) ? parts : [value];
}

/**
 * Returns the engine's description of a resource.
 * @param found the resource, or undefined for an unknown indicator
 * @param requestedScope the `scope` of the authorization request; undefined on other requests
 * @param grantableScopes scopes that belong to no resource (`openid`, `offline_access`)
 * @throws errors.InvalidTarget (RFC 8707 section 2), errors.InvalidScope if nothing that was asked for exists here
 */
export function toResourceServer(
  found: ProtectedResource | undefined,
  requestedScope: string | undefined,
  grantableScopes: readonly string[],
  accessTokenSeconds: number,
): ResourceServer {
  if (!found) throw new errors.InvalidTarget('the requested resource is not served here');
  const requested = parseScope(requestedScope);
  const known = new Set([...Object.keys(found.scopes), ...grantableScopes]);
  if (requested.length > 0 && !requested.some((scope) => known.has(scope)))
    throw new errors.InvalidScope('none of the requested scopes exists at this resource', '');
  return {
    scope: formatScope(Object.keys(found.scopes)),
    audience: found.resource,
    accessTokenTTL: found.accessTokenSeconds ?? accessTokenSeconds,
    ...(found.accessTokenFormat === 'jwt'
      ? { accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }
      : { accessTokenFormat: 'opaque' }),
  };
}
