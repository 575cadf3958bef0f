import { fromFactory, fromServer, isServer, type ServerFactory } from './mcp/own-server.ts';
import type { ScopeRules } from './mcp/scopes/scope-rules.ts';
import type { McpLike, ServerSource } from './mcp/server-source.ts';
import { isScopeToken } from './oauth/scope.ts';
import { nearest } from './settings/known-names.ts';
import { SettingsRefused } from './settings/settings-refused.ts';

/** What is said of an MCP server beside the server itself. */
interface Description {
  /** What people call it; stands on the consent page. The host of the public URL by default. */
  name?: string;
  /** Its scopes, each with the sentence the consent page shows; by default one scope, `mcp`, that everything needs. */
  scopes?: Readonly<Record<string, string>>;
  /** What a client gets that asks for nothing in particular; all scopes by default. */
  baselineScopes?: readonly string[];
  /** Which scopes its tools, prompts and resources need. */
  scopeRules?: ScopeRules;
}

/** An MCP server to put behind the gate, with its name and scopes. */
export type ProtectedServer = Description &
  (
    | {
        /** Makes a server, for each session and each request without one. */
        create: ServerFactory;
        /** `shared`: what `create` makes serves all callers of an era at once, and must not depend on who calls. */
        sharing?: 'each' | 'shared';
        mcp?: never;
      }
    | {
        /** A server, ready-made: one for all callers. */
        mcp: McpLike;
        create?: never;
        sharing?: never;
      }
  );

/** How an MCP server can be brought: ready-made, as a function that makes one, or either with its name and scopes. */
export type OwnServer = McpLike | ServerFactory | ProtectedServer;

/** A server with everything filled in. */
export interface NormalizedServer {
  name: string;
  source: ServerSource;
  scopes: Record<string, string>;
  baselineScopes: readonly string[];
  scopeRules: ScopeRules;
}

const defaultScope = 'mcp';

const known = {
  server: ['name', 'create', 'mcp', 'sharing', 'scopes', 'baselineScopes', 'scopeRules'],
  scopeRules: ['tools', 'prompts', 'resources', 'otherwise', 'implies', 'lists'],
} as const;

/**
 * Reads the MCP server that was brought.
 * @param publicUrl gives it a name where it has none
 * @throws SettingsRefused with all problems at once, and the nearest name for a misspelled one
 */
export function readOwnServer(given: OwnServer, publicUrl: string): NormalizedServer {
  const long = isServer(given) ? { mcp: given } : typeof given === 'function' ? { create: given } : given;
  if (!isRecord(long))
    throw new SettingsRefused([
      'server: must be an McpServer, a function that makes one, or { name, create, scopes }',
    ]);
  const problems = [
    ...findUnknown('server', long),
    ...findFormProblems(long),
    ...findScopeProblems(long),
    ...findRuleProblems(long),
  ];
  if (problems.length > 0) throw new SettingsRefused(problems);

  const { name = new URL(publicUrl).host, scopes, scopeRules } = long as ProtectedServer;
  const all = scopes ?? { [defaultScope]: 'Use this server.' };
  return {
    name,
    source: sourceOf(long as ProtectedServer),
    scopes: { ...all },
    baselineScopes: (long as ProtectedServer).baselineScopes ?? Object.keys(all),
    scopeRules: scopes ? (scopeRules ?? {}) : { otherwise: [defaultScope], ...scopeRules },
  };
}

function sourceOf(server: ProtectedServer): ServerSource {
  return server.mcp ? fromServer(server.mcp) : fromFactory(server.create, server.sharing ?? 'each');
}

type Fields = Record<string, unknown>;

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function findUnknown(place: string, fields: Fields, names: readonly string[] = known.server): string[] {
  return Object.keys(fields)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const suggestion = nearest(name, names);
      return `${place}.${name}: there is no such setting${suggestion ? `; did you mean ${suggestion}?` : ''}`;
    });
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
  if (sharing !== undefined && sharing !== 'each' && sharing !== 'shared')
    problems.push('server.sharing: must be "each" or "shared"');
  if (sharing !== undefined && mcp !== undefined)
    problems.push('server.sharing: is for create; a ready-made server answers all callers anyway');
  return problems;
}

/** A class is a function, too, and easily given instead of one that makes an instance. */
function isClass(value: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}

function findScopeProblems({ scopes, baselineScopes }: Fields): string[] {
  if (scopes !== undefined && !isRecord(scopes)) return ['server.scopes: must map each scope to a sentence'];
  const problems: string[] = [];
  if (scopes && Object.keys(scopes).length === 0)
    problems.push(`server.scopes: needs at least one scope; leave it out to have one, ${defaultScope}`);
  for (const [scope, sentence] of Object.entries(scopes ?? {})) {
    if (!isScopeToken(scope))
      problems.push(`server.scopes: ${JSON.stringify(scope)} is no scope: no spaces, quotes or backslashes`);
    if (typeof sentence !== 'string' || sentence.trim() === '')
      problems.push(`server.scopes.${scope}: needs the sentence the consent page shows`);
  }
  if (baselineScopes !== undefined)
    problems.push(...findUndeclared('server.baselineScopes', baselineScopes, declaredIn(scopes)));
  return problems;
}

function declaredIn(scopes: unknown): string[] {
  return isRecord(scopes) ? Object.keys(scopes) : [defaultScope];
}

function findUndeclared(place: string, given: unknown, declared: readonly string[]): string[] {
  if (!isListOfText(given)) return [`${place}: must be a list of scopes`];
  return given
    .filter((scope) => !declared.includes(scope))
    .map((scope) => {
      const suggestion = nearest(scope, declared);
      return `${place}: server.scopes has no ${JSON.stringify(scope)}${suggestion ? `; did you mean ${suggestion}?` : ''}`;
    });
}

function findRuleProblems({ scopes, scopeRules }: Fields): string[] {
  if (scopeRules === undefined) return [];
  if (!isRecord(scopeRules)) return ['server.scopeRules: must be { tools, prompts, resources }'];
  const declared = declaredIn(scopes);
  const problems = findUnknown('server.scopeRules', scopeRules, known.scopeRules);
  for (const table of ['tools', 'prompts', 'resources', 'implies'] as const) {
    const place = `server.scopeRules.${table}`;
    const rules = scopeRules[table] ?? {};
    if (!isRecord(rules)) problems.push(`${place}: must map names to lists of scopes`);
    else
      for (const [name, needed] of Object.entries(rules))
        problems.push(...findUndeclared(`${place}.${name}`, needed, declared));
  }
  const { otherwise, implies, lists } = scopeRules;
  if (otherwise !== undefined)
    problems.push(...findUndeclared('server.scopeRules.otherwise', otherwise, declared));
  if (isRecord(implies))
    problems.push(...findUndeclared('server.scopeRules.implies', Object.keys(implies), declared));
  if (lists !== undefined && lists !== 'all' && lists !== 'granted')
    problems.push('server.scopeRules.lists: must be "all" or "granted"');
  return problems;
}
