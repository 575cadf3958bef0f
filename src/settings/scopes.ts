import { z } from 'zod';
import { isScopeToken, personalScopes } from '../oauth/scope.ts';
import { nearest } from './known-names.ts';

/** Problem of a scope that the authorization server reserves. */
export const ownScope = 'is a scope of the authorization server itself; give it another name';

/** An object with unchecked values. */
export type Fields = Record<string, unknown>;

/** The scope of a server that declares none. */
export const defaultScope = 'mcp';

const ruleNames = ['tools', 'prompts', 'resources', 'otherwise', 'implies', 'lists'];

/** Returns whether a value is an object. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/**
 * Returns a sentence for each unknown name, with the nearest known name.
 * @param place prefix of the sentences
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
 * Returns the problems of a server's scopes and scope rules.
 * @param place name of the server in the settings
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

/** Setting: the scopes of a protected resource. */
export const scopesSetting = z
  .record(scopeName, z.string().min(1))
  .refine((scopes) => Object.keys(scopes).length > 0, { error: 'must have at least one scope' });

/** Setting: a subset of the scopes of a protected resource. */
export const scopeListSetting = scopeList;

/** Setting: the scopes that calls of an MCP server require. */
export const scopeRulesSettings = z.strictObject({
  tools: scopesByName.optional().describe('scopes that each tool requires, by tool name'),
  prompts: scopesByName.optional().describe('scopes that each prompt requires, by prompt name'),
  resources: scopesByName
    .optional()
    .describe('scopes that each resource requires, by URI prefix; the longest prefix decides'),
  otherwise: scopeList
    .optional()
    .describe(
      'scopes required for everything that no rule names; default: none, or the baseline scopes if there is no rule at all',
    ),
  implies: z.record(scopeName, scopeList).optional().describe('scopes that a scope includes'),
  lists: z
    .enum(['all', 'granted'])
    .optional()
    .describe('contents of lists: all, or only what the scopes of the caller allow'),
});
