import {
  fromFactory,
  fromServer,
  isMethodOfMcp,
  isServer,
  type OpenMethods,
  type ScopeRules,
  type ServerFactory,
  unknownScopesOf,
} from './mcp/building-blocks.ts';
import type { McpLike, ServerSource } from './mcp/protocol.ts';
import { type CallerField, callerFields } from './oauth/caller-fields.ts';
import { SettingsRefused } from './settings/issues.ts';
import { defaultScope, type Fields, findScopeProblems, findUnknown, isRecord } from './settings/scopes.ts';

/** Description of an MCP server. */
interface Description {
  /** Name on the consent page. Default: the host of the public URL. */
  name?: string;
  /** Scopes with their sentences on the consent page. Default: one scope, `mcp`, that everything requires. */
  scopes?: Readonly<Record<string, string>>;
  /** Scopes for a client that requests none. Default: all scopes. */
  baselineScopes?: readonly string[];
  /** Scopes that its tools, prompts and resources require. */
  scopeRules?: ScopeRules;
  /**
   * Methods outside MCP that clients may call, with the scopes they require (none: those of `scopeRules.otherwise`).
   * Gatehouse rejects every other method that MCP does not define.
   */
  methods?: OpenMethods;
}

/** An MCP server to protect, with its name and scopes. */
export type ProtectedServer = Description &
  (
    | {
        /** Creates a server, for each session and each request without a session. */
        create: ServerFactory;
        /** `shared`: one server serves all callers of an era, and must not depend on the caller. */
        sharing?: 'each' | 'shared';
        mcp?: never;
      }
    | {
        /** One server for all callers. */
        mcp: McpLike;
        create?: never;
        sharing?: never;
      }
  );

/** An MCP server that the code provides: a server, a function that creates one, or either with its name and scopes. */
export type OwnServer = McpLike | ServerFactory | ProtectedServer;

/** A server with all defaults filled in. */
export interface NormalizedServer {
  name: string;
  source: ServerSource;
  scopes: Record<string, string>;
  baselineScopes: readonly string[];
  scopeRules: ScopeRules;
  /** Data about its callers that the server gets, for the consent page; none by default. */
  learns?: readonly (CallerField | 'claims')[];
  /** Methods outside MCP that clients may call. */
  methods?: OpenMethods;
}

const knownNames = ['name', 'create', 'mcp', 'sharing', 'scopes', 'baselineScopes', 'scopeRules', 'methods'];

/**
 * Reads the MCP server that the code provides.
 * @param publicUrl its host is the default name
 * @throws SettingsRefused with all problems at once, and the nearest name for a misspelled one
 */
export function readOwnServer(given: OwnServer, publicUrl: string): NormalizedServer {
  const long = isServer(given) ? { mcp: given } : typeof given === 'function' ? { create: given } : given;
  if (long instanceof Promise)
    throw new SettingsRefused([
      'server: is a promise: await it, or give the function that makes the server, which may be asynchronous',
    ]);
  if (!isRecord(long))
    throw new SettingsRefused([
      'server: must be an McpServer, a function that makes one, or { name, create, scopes }',
    ]);
  const problems = [
    ...findUnknown('server', long, knownNames),
    ...findFormProblems(long),
    ...findScopeProblems('server', long),
    ...findMethodProblems('server.methods', long.methods, long.scopes),
  ];
  if (problems.length > 0) throw new SettingsRefused(problems);

  const described = long as ProtectedServer;
  const completed = completeScopes(described);
  const unknown = described.mcp ? unknownScopesOf(described.mcp, Object.keys(completed.scopes)) : [];
  if (unknown.length > 0)
    throw new SettingsRefused(
      unknown.map((scope) => `server.scopes: has no ${JSON.stringify(scope)}, which declareScopes names`),
    );
  return {
    name: described.name ?? new URL(publicUrl).host,
    source: sourceOf(described),
    learns: [...callerFields, 'claims'],
    ...(described.methods && { methods: described.methods }),
    ...completed,
  };
}

/** Scopes of a server; all members are optional. */
type GivenScopes = {
  [Name in 'scopes' | 'baselineScopes']?: Description[Name] | undefined;
} & { scopeRules?: { [Rule in keyof ScopeRules]: ScopeRules[Rule] | undefined } | undefined };

/** Fills in the scopes of a server: by default one scope, `mcp`, that everything requires, and all scopes as the baseline. */
export function completeScopes({
  scopes,
  baselineScopes,
  scopeRules,
}: GivenScopes): Omit<NormalizedServer, 'name' | 'source' | 'methods' | 'learns'> {
  const all = scopes ?? { [defaultScope]: 'Use this server.' };
  return {
    scopes: { ...all },
    baselineScopes: baselineScopes ?? Object.keys(all),
    scopeRules: (scopes ? (scopeRules ?? {}) : { otherwise: [defaultScope], ...scopeRules }) as ScopeRules,
  };
}

/**
 * Finds problems of the methods that a route opens.
 * @param place the route, for the sentences
 */
export function findRouteMethodProblems(
  place: string,
  route: { policy: { methods: OpenMethods }; scopes?: unknown; backends?: unknown },
): string[] {
  const { policy, scopes, backends } = route;
  if (backends !== undefined && Object.keys(policy.methods).length > 0)
    return [
      `${place}.policy.methods: is for a route with one backend; of several, a method by itself does not say which it is for`,
    ];
  return findMethodProblems(`${place}.policy.methods`, policy.methods, scopes);
}

/**
 * Finds problems of opened methods.
 * @param place the setting, for the sentences
 * @param scopes scopes that the server declares
 */
function findMethodProblems(place: string, methods: unknown, scopes: unknown): string[] {
  if (methods === undefined) return [];
  if (!isRecord(methods)) return [`${place}: must map names of methods to lists of scopes`];
  const declared = isRecord(scopes) ? Object.keys(scopes) : [defaultScope];
  return Object.entries(methods).flatMap(([method, needed]) => {
    if (isMethodOfMcp(method))
      return [
        `${place}.${method}: is a method of MCP, which passes anyway; what it needs stands in scopeRules`,
      ];
    if (!Array.isArray(needed)) return [`${place}.${method}: must be a list of scopes`];
    return needed
      .filter((scope) => !declared.includes(scope))
      .map((scope) => `${place}.${method}: the server has no scope ${JSON.stringify(scope)}`);
  });
}

function sourceOf(server: ProtectedServer): ServerSource {
  return server.mcp ? fromServer(server.mcp) : fromFactory(server.create, server.sharing ?? 'each');
}

function findFormProblems({ name, create, mcp, sharing }: Fields): string[] {
  const problems: string[] = [];
  if (name !== undefined && (typeof name !== 'string' || name.trim() === ''))
    problems.push('server.name: must be text');
  if ((create === undefined) === (mcp === undefined))
    problems.push('server: needs either create, a function that makes a server, or mcp, a server');
  if (create !== undefined && (typeof create !== 'function' || isClass(create)))
    problems.push('server.create: must be a function that makes a server: () => new McpServer(…)');
  if (mcp !== undefined && !isServer(mcp))
    problems.push('server.mcp: must be an MCP server, which has connect and close');
  if (isConnected(mcp))
    problems.push('server: is connected already; give one that is not, or a function that makes one');
  if (sharing !== undefined && sharing !== 'each' && sharing !== 'shared')
    problems.push('server.sharing: must be "each" or "shared"');
  if (sharing !== undefined && mcp !== undefined)
    problems.push('server.sharing: is for create; a ready-made server answers all callers anyway');
  return problems;
}

/** Checks if a server of either SDK version has a transport: it cannot take a second one. */
function isConnected(mcp: unknown): boolean {
  if (!isRecord(mcp)) return false;
  const inner = isRecord(mcp.server) ? mcp.server : mcp;
  return isRecord(inner.transport);
}

/** Detects a class, which is easily given instead of a function that creates an instance. */
function isClass(value: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}
