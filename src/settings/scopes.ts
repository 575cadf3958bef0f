import { z } from 'zod';
import { isScopeToken } from '../oauth/scope.ts';

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
