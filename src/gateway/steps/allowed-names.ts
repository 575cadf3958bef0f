import { createUriReader, foldedPatterns, noteCall, type UriReader } from '../../mcp/building-blocks.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import {
  type Answer,
  askedFor,
  type Entry,
  type Listed,
  lists,
  notFound,
  type Step,
  usingMethods,
  withEntries,
} from './step.ts';
import { calledTool, type ToolDefinitions } from './tool-definitions.ts';

/** Allowed names: those that fit a pattern of `allow` and none of `deny`. */
interface NameRules {
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
 * Creates the step that hides names that are not allowed: they are not listed, their use fails like that of an unknown
 * name, and clients get no notifications about them. A URI is allowed only if all its spellings are (T-212).
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
      if (asked && !mayUse(asked.kind, asked.name)) {
        noteCall({ refusal: 'not_allowed' });
        return notFound(asked.kind, asked.name, passing);
      }
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

/** Returns true for an allowed URI. Unreadable names, and URIs with several meanings, are rejected (T-149). */
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

/** Response to a name that is no string, which some servers would accept. */
const unnamed: Answer = {
  error: {
    code: errorCodes.invalidParams,
    message: 'Invalid params: it does not say by name what it is about.',
  },
};

/**
 * Creates the step that allows only tools that the server declares as read-only (`readOnlyHint`), which the operator
 * must trust. Other tools do not exist for the caller. If there is no list, the response to a call says why: a
 * credential is missing, or the server cannot be reached.
 * @see MCP 2025-11-25 schema `ToolAnnotations`
 */
export function createReadOnly(definitions: Pick<ToolDefinitions, 'find'>): Step {
  return {
    cares: (method) => method === 'tools/list' || method === 'tools/call',
    async answer(request, passing, next) {
      if (request.method === 'tools/call') {
        const { name, tool, answer } = await calledTool(definitions, request, passing);
        if (answer) return answer;
        if (isReadOnly(tool)) return next(request);
        noteCall({ refusal: 'not_read_only' });
        return notFound('tool', name, passing);
      }
      return withEntries(request.method, await next(request), (tools) => tools.filter(isReadOnly));
    },
  };
}

function isReadOnly({ annotations }: Entry): boolean {
  return (annotations as { readOnlyHint?: unknown } | null | undefined)?.readOnlyHint === true;
}

/**
 * Parses patterns of names, in which `*` stands for any characters. A name is matched in one pass, whatever the
 * pattern.
 * @returns a function that returns true if a name matches one of them
 */
export function namePatterns(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes('*')) return () => true;
  // Most patterns are whole names: however many there are, they cost one look-up.
  const names = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const matchers = patterns.filter((pattern) => pattern.includes('*')).map(matcher);
  return (name) => names.has(name) || matchers.some((matches) => matches(name));
}

function matcher(pattern: string): (name: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop() ?? '';
  return (name) => {
    if (!name.startsWith(start) || !name.endsWith(end)) return false;
    let at = start.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at + end.length <= name.length;
  };
}
