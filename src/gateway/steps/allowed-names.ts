import { createUriReader, foldedPatterns, type UriReader } from '../../mcp/building-blocks.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { askedFor, usingMethods } from './asked-for.ts';
import { type Listed, lists, withEntries } from './listed.ts';
import { namePatterns } from './name-pattern.ts';
import { notFound } from './not-found.ts';
import type { Answer, Step } from './step.ts';

/** Allowed names: those that fit a pattern of `allow` and none of `deny`. */
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
 * hears that it changed. A URI may be used only if all its spellings may (T-212).
 */
export function createAllowedNames({ tools, prompts, resources }: AllowedNames): Step {
  const mayUseUri = uriMatcher(resources);
  const matchers: Record<Listed['kind'], (name: string, readUri: UriReader) => boolean> = {
    tool: nameMatcher(tools),
    prompt: nameMatcher(prompts),
    resource: mayUseUri,
    template: mayUseUri,
  };
  const isFree = [tools, prompts, resources].every(
    ({ allow, deny }) => allow.includes('*') && deny.length === 0,
  );
  const mayUse = (kind: Listed['kind'], name: unknown, readUri = createUriReader('message')): boolean =>
    isFree || (typeof name === 'string' && matchers[kind](name, readUri));

  return {
    cares: (method) => !isFree && (lists.has(method) || usingMethods.has(method)),
    async answer(request, passing, next) {
      const asked = askedFor(request);
      if (!asked && usingMethods.has(request.method)) return unnamed;
      if (asked && !mayUse(asked.kind, asked.name)) return notFound(asked.kind, asked.name, passing);
      return withEntries(request.method, await next(request), (entries, { kind, name }) => {
        const readUri = createUriReader('list');
        return entries.filter((entry) => mayUse(kind, entry[name], readUri));
      });
    },
    mayTell: ({ method, params }) =>
      method !== 'notifications/resources/updated' || mayUse('resource', params?.uri),
  };
}

function nameMatcher({ allow, deny }: NameRules): (name: string) => boolean {
  const [isAllowed, isDenied] = [namePatterns(allow), namePatterns(deny)];
  return (name) => isAllowed(name) && !isDenied(name);
}

/** Rejects names that cannot be read within the bounds, and URIs that lead elsewhere than they say (T-149). */
function uriMatcher(rules: NameRules): (uri: string, readUri: UriReader) => boolean {
  const { allow, deny } = rules;
  const asWritten = nameMatcher(rules);
  const isAllowed = namePatterns(allow.flatMap((pattern) => foldedPatterns(pattern, 'with less')));
  const isDenied = namePatterns(deny.flatMap((pattern) => foldedPatterns(pattern, 'as written')));
  return (uri, readUri) => {
    if (!asWritten(uri)) return false;
    const reading = readUri(uri);
    if (!reading || reading.leadsElsewhere) return false;
    // Patterns such as `*/secret/*` say nothing of schemes, and look for a slash behind them.
    return reading.folded.every((text) => {
      const slashed = text.replace(':', ':/');
      return (isAllowed(text) || isAllowed(slashed)) && !isDenied(text) && !isDenied(slashed);
    });
  };
}

/** A server may take what is no name for one: a list of one name, for example. */
const unnamed: Answer = {
  error: {
    code: errorCodes.invalidParams,
    message: 'Invalid params: it does not say by name what it is about.',
  },
};
