import { leadsElsewhere, uriSpellings } from '../../mcp/checks/uri-spellings.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { askedFor, usingMethods } from './asked-for.ts';
import { type Listed, lists, withEntries } from './listed.ts';
import { namePatterns } from './name-pattern.ts';
import { notFound } from './not-found.ts';
import type { Answer, Step } from './step.ts';

/** Which names may be used: those that fit a pattern of `allow` and none of `deny`. */
export interface NameRules {
  allow: readonly string[];
  deny: readonly string[];
}

/** Rules for what a server offers; resources are named by their URIs, and templates by theirs. */
export interface AllowedNames {
  tools: NameRules;
  prompts: NameRules;
  resources: NameRules;
}

/**
 * Creates the step that knows nothing of what may not be used: it is not listed, using it is a name unknown, and nobody
 * hears that it changed. What is denied is so however its URI is spelt.
 */
export function createAllowedNames({ tools, prompts, resources }: AllowedNames): Step {
  const rules: Record<Listed['kind'], NameRules> = {
    tool: tools,
    prompt: prompts,
    resource: resources,
    template: resources,
  };
  const matchers: Record<string, (name: string) => boolean> = Object.fromEntries(
    Object.entries(rules).map(([kind, { allow, deny }]) => {
      const [isAllowed, isDenied] = [namePatterns(allow), namePatterns(deny)];
      if (kind !== 'resource') return [kind, (name) => isAllowed(name) && !isDenied(name)];
      return [kind, (uri) => isAllowed(uri) && !leadsElsewhere(uri) && !uriSpellings(uri).some(isDenied)];
    }),
  );
  const isFree = [tools, prompts, resources].every(
    ({ allow, deny }) => allow.includes('*') && deny.length === 0,
  );
  const mayUse = (kind: Listed['kind'], name: unknown): boolean =>
    isFree || (typeof name === 'string' && matchers[kind]?.(name) === true);

  return {
    cares: (method) => !isFree && (lists.has(method) || usingMethods.has(method)),
    async answer(request, passing, next) {
      const asked = askedFor(request);
      if (!asked && usingMethods.has(request.method)) return unnamed;
      if (asked && !mayUse(asked.kind, asked.name)) return notFound(asked.kind, asked.name, passing);
      return withEntries(request.method, await next(request), (entries, { kind, name }) =>
        entries.filter((entry) => mayUse(kind, entry[name])),
      );
    },
    mayTell: ({ method, params }) =>
      method !== 'notifications/resources/updated' || mayUse('resource', params?.uri),
  };
}

/** A server may take what is no name for one: a list of one name, for example. */
const unnamed: Answer = {
  error: {
    code: errorCodes.invalidParams,
    message: 'Invalid params: it does not say by name what it is about.',
  },
};
