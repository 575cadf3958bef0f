import { isScopeToken, personalScopes } from '../oauth/scope.ts';
import { nearest } from './known-names.ts';
import { z } from 'zod';

/** Why a scope cannot be one of a server. */
export const ownScope = 'is a scope of the authorization server itself; give it another name';

/** What may be anything, by name. */
export type Fields = Record<string, unknown>;

/** The scope of a server that names none. */
export const defaultScope = 'mcp';

const ruleNames = ['tools', 'prompts', 'resources', 'otherwise', 'implies', 'lists'];

/** Whether something has members by name. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/**
 * Finds names that are not known, with the nearest that is.
 * @param place stands before them
 */
export function findUnknown(place: string, fields: Fields, names: readonly string[]): string[] {
  return Object.keys(fields)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const suggestion = nearest(name, names);
      return `${place}.${name}: there is no such setting${suggestion ? `; did you mean ${suggestion}?` : ''}`;
    });
}

/**
 * Finds what is wrong with the scopes of a server and the rules about them.
 * @param place what the server is called in the settings
 */
export function findScopeProblems(place: string, fields: Fields): string[] {
  return [...findProblemsOfScopes(place, fields), ...findProblemsOfRules(place, fields)];
}

function findProblemsOfScopes(place: string, { scopes, baselineScopes }: Fields): string[] {
  if (scopes !== undefined && !isRecord(scopes))
    return [`${place}.scopes: must map each scope to a sentence`];
  const problems: string[] = [];
  if (scopes && Object.keys(scopes).length === 0)
    problems.push(`${place}.scopes: needs at least one scope; leave it out to have one, ${defaultScope}`);
  for (const [scope, sentence] of Object.entries(scopes ?? {})) {
    if (!isScopeToken(scope))
      problems.push(
        `${place}.scopes: ${JSON.stringify(scope)} is no scope: no spaces, quotes or backslashes`,
      );
    if (personalScopes.includes(scope)) problems.push(`${place}.scopes.${scope}: ${ownScope}`);
    if (typeof sentence !== 'string' || sentence.trim() === '')
      problems.push(`${place}.scopes.${scope}: needs the sentence the consent page shows`);
  }
  if (baselineScopes !== undefined)
    problems.push(...findUndeclared(place, 'baselineScopes', baselineScopes, declaredIn(scopes)));
  return problems;
}

function declaredIn(scopes: unknown): string[] {
  return isRecord(scopes) ? Object.keys(scopes) : [defaultScope];
}

function findUndeclared(server: string, rule: string, given: unknown, declared: readonly string[]): string[] {
  if (!isListOfText(given)) return [`${server}.${rule}: must be a list of scopes`];
  return given
    .filter((scope) => !declared.includes(scope))
    .map((scope) => {
      const suggestion = nearest(scope, declared.filter(isScopeToken));
      return `${server}.${rule}: ${server}.scopes has no ${JSON.stringify(scope)}${suggestion ? `; did you mean ${suggestion}?` : ''}`;
    });
}

function findProblemsOfRules(server: string, { scopes, scopeRules }: Fields): string[] {
  if (scopeRules === undefined) return [];
  if (!isRecord(scopeRules)) return [`${server}.scopeRules: must be { tools, prompts, resources }`];
  const declared = declaredIn(scopes);
  const problems = findUnknown(`${server}.scopeRules`, scopeRules, ruleNames);
  for (const table of ['tools', 'prompts', 'resources', 'implies'] as const) {
    const place = `scopeRules.${table}`;
    const rules = scopeRules[table] ?? {};
    if (!isRecord(rules)) problems.push(`${server}.${place}: must map names to lists of scopes`);
    else
      for (const [name, needed] of Object.entries(rules))
        problems.push(...findUndeclared(server, `${place}.${name}`, needed, declared));
  }
  const { otherwise, implies, lists } = scopeRules;
  if (otherwise !== undefined)
    problems.push(...findUndeclared(server, 'scopeRules.otherwise', otherwise, declared));
  if (isRecord(implies))
    problems.push(...findUndeclared(server, 'scopeRules.implies', Object.keys(implies), declared));
  if (lists !== undefined && lists !== 'all' && lists !== 'granted')
    problems.push(`${server}.scopeRules.lists: must be "all" or "granted"`);
  return problems;
}

const scopeName = z
  .string()
  .refine(isScopeToken, { error: 'must be a scope: printable ASCII without spaces, " and \\' });

const scopeList = z.array(scopeName);

const scopesByName = z.record(z.string().min(1), scopeList);

/** Scopes of a protected resource. */
export const scopesSetting = z
  .record(scopeName, z.string().min(1))
  .refine((scopes) => Object.keys(scopes).length > 0, { error: 'must have at least one scope' });

/** Scopes out of those of a protected resource. */
export const scopeListSetting = scopeList;

/** Which scopes the calls of an MCP server need. */
export const scopeRulesSettings = z.strictObject({
  tools: scopesByName.optional().describe('scopes each tool needs, by its name'),
  prompts: scopesByName.optional().describe('scopes each prompt needs, by its name'),
  resources: scopesByName
    .optional()
    .describe('scopes each resource needs, by the beginning of its URI; the longest beginning decides'),
  otherwise: scopeList
    .optional()
    .describe(
      'what everything needs that is not named: nothing where left out, and the baseline scopes where no rule is given at all',
    ),
  implies: z.record(scopeName, scopeList).optional().describe('scopes that who holds a scope holds, too'),
  lists: z
    .enum(['all', 'granted'])
    .optional()
    .describe('what lists show: all, or what the scopes of the caller open'),
});
