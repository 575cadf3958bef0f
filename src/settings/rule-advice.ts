import { finalName, finalUri } from '../gateway/aggregate/final-names.ts';
import { nearest } from './known-names.ts';
import type { RoutesSettings } from './routes.ts';

/** A scope rule that no name can match. */
export interface KeylessRule {
  /** Its place in the settings of the route. */
  place: string;
  /** The names that were probably meant. */
  meant: string[];
}

/** A scope rule with the name that it matches. */
interface Rule {
  place: string;
  /** A tool or prompt name, a URI, or a pattern of either. */
  name: string;
  /** Prefix that a name needs to match, and whether more may follow. */
  start: string;
  isOpen: boolean;
  /** Adds the key of a backend to a name or URI. */
  withKey: (key: string, own: string) => string;
}

type RuledRoute = Pick<RoutesSettings[string], 'backends' | 'scopeRules' | 'policy'>;

/** Maximum number of suggested names. */
const maxMeant = 3;

/**
 * Returns the rules of a route with several backends that never match: all names there begin with the key of their
 * backend, and these rules do not.
 */
export function findKeylessRules(route: RuledRoute): KeylessRule[] {
  const keys = Object.keys(route.backends ?? {});
  if (keys.length === 0) return [];
  return [...scopeRulesOf(route), ...policyRulesOf(route)]
    .filter((rule) => !mayHold(rule, keys))
    .map((rule) => ({ place: rule.place, meant: meantBy(rule, keys) }));
}

function scopeRulesOf({ scopeRules = {} }: RuledRoute): Rule[] {
  const { tools = {}, prompts = {}, resources = {} } = scopeRules;
  const ofNames = Object.entries({ tools, prompts }).flatMap(([table, rules]) =>
    Object.keys(rules).map((name): Rule => {
      const place = `scopeRules.${table}.${name}`;
      return { place, name, start: name, isOpen: false, withKey: finalName };
    }),
  );
  const ofUris = Object.keys(resources).map((name): Rule => {
    const place = `scopeRules.resources.${name}`;
    // A URI scheme is case-insensitive.
    return { place, name, start: name.toLowerCase(), isOpen: true, withKey: finalUri };
  });
  return [...ofNames, ...ofUris];
}

function policyRulesOf({ policy }: RuledRoute): Rule[] {
  const { tools, prompts, resources, limits } = policy;
  const ofTables = Object.entries({ tools, prompts, resources }).flatMap(([table, lists]) =>
    Object.entries(lists).flatMap(([list, patterns]) =>
      patterns.map((pattern, at) =>
        patternRule(`policy.${table}.${list}.${at}`, pattern, table === 'resources' ? finalUri : finalName),
      ),
    ),
  );
  const ofLimits = limits.map(({ tools: pattern }, at) =>
    patternRule(`policy.limits.${at}.tools`, pattern, finalName),
  );
  return [...ofTables, ...ofLimits];
}

function patternRule(place: string, pattern: string, withKey: Rule['withKey']): Rule {
  const [start = '', ...rest] = pattern.split('*');
  return { place: `${place} (${pattern})`, name: pattern, start, isOpen: rest.length > 0, withKey };
}

/** Returns whether a name that begins with one of the keys can match. */
function mayHold({ start, isOpen, withKey }: Rule, keys: readonly string[]): boolean {
  const beginnings = keys.flatMap((key) => [withKey(key, ''), withKey(key, 'ui://')]);
  return beginnings.some(
    (beginning) => start.startsWith(beginning) || (isOpen && beginning.startsWith(start)),
  );
}

/** Also finds a misspelt key, or a key followed by the wrong separator. */
function meantBy({ name, withKey }: Rule, keys: readonly string[]): string[] {
  const signed = keys.flatMap((key) => {
    const [begun, own] = [name.slice(0, key.length), name.slice(key.length)];
    return begun.toLowerCase() === key && /^[_+.-]/.test(own)
      ? [withKey(key, own.replace(/^[_+.-]+/, ''))]
      : [];
  });
  if (signed.length > 0) return signed;
  const [, head = '', own = ''] = /^([a-z0-9-]{4,})[_+](.*)$/is.exec(name) ?? [];
  const near = nearest(head, keys);
  const given = near === undefined ? [] : [withKey(near, own)];
  const lacking = near === undefined ? keys : [near];
  return [...given, ...lacking.map((key) => withKey(key, name))].slice(0, maxMeant);
}

type ScopedRoute = Pick<RoutesSettings[string], 'scopes' | 'baselineScopes' | 'scopeRules'>;

/**
 * Adds to a route that declares scopes but no rules the rule that everything requires its baseline scopes: an operator
 * who names scopes finer than `mcp` does not open the route to logins without any.
 * @returns the route as it was if it has rules, or no scopes of its own
 */
export function withBaselineRule<Route extends ScopedRoute>(route: Route): Route {
  const { scopes, scopeRules = {} } = route;
  const { tools = {}, prompts = {}, resources = {}, otherwise } = scopeRules;
  const hasRules = [tools, prompts, resources].some((table) => Object.keys(table).length > 0);
  if (scopes === undefined || hasRules || otherwise !== undefined) return route;
  return { ...route, scopeRules: { ...scopeRules, otherwise: baselineOf(route) } };
}

function baselineOf({ scopes = {}, baselineScopes }: ScopedRoute): string[] {
  return baselineScopes?.length ? baselineScopes : Object.keys(scopes);
}

/** Names and kinds that the rules of a route leave open to every login. */
export interface OpenRest {
  /** Kinds of which no rule names any: `prompts`. */
  unnamed: string[];
  /** The other kinds: names that no rule matches are open. */
  named: string[];
  /** The probable value of `otherwise`. */
  baseline: string[];
}

/**
 * Returns what is open to every login, whatever its scopes, at a route that declares scopes.
 * @returns undefined if the route declares none, or sets `otherwise`, even to nothing
 */
export function findOpenRest(route: ScopedRoute): OpenRest | undefined {
  const { scopes, scopeRules = {} } = route;
  if (scopes === undefined || scopeRules.otherwise !== undefined) return undefined;
  const kinds = ['tools', 'prompts', 'resources'] as const;
  const isNamed = (kind: (typeof kinds)[number]): boolean => Object.keys(scopeRules[kind] ?? {}).length > 0;
  return {
    unnamed: kinds.filter((kind) => !isNamed(kind)),
    named: kinds.filter(isNamed),
    baseline: baselineOf(route),
  };
}

/** Returns the declared scopes of a route that no rule requires: a caller without them is not restricted. */
export function findIdleScopes({ scopes = {}, scopeRules = {} }: ScopedRoute): string[] {
  const { tools = {}, prompts = {}, resources = {}, otherwise = [], implies = {} } = scopeRules;
  const ruled = [tools, prompts, resources].flatMap((table) => Object.values(table).flat());
  const named = new Set([...ruled, ...otherwise, ...Object.keys(implies)]);
  return Object.keys(scopes).filter((scope) => !named.has(scope));
}
