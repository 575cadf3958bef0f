import type { RoutesSettings } from './routes.ts';

type ScopedRoute = Pick<RoutesSettings[string], 'scopes' | 'baselineScopes' | 'scopeRules'>;

/**
 * Gives a route that declares scopes, and says of nothing that it needs one, the rule that everything needs its baseline
 * scopes: whoever names finer scopes than `mcp`, which everything needs, does not open the route to logins without any.
 * @returns the route as it was where it has rules, or no scopes of its own
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

/** What the rules of a route leave to every login. */
export interface OpenRest {
  /** The kinds of things of which no rule names any: `prompts`. */
  unnamed: string[];
  /** The other kinds: what no rule names of them is open. */
  named: string[];
  /** What `otherwise` would probably be. */
  baseline: string[];
}

/**
 * Finds what is open to every login, whatever it was granted, at a route that declares scopes.
 * @returns undefined where it declares none, or says what is not named needs (`otherwise`), be it nothing
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

/** Names the scopes a route declares that nothing needs: whoever lacks one may do all the same. */
export function findIdleScopes({ scopes = {}, scopeRules = {} }: ScopedRoute): string[] {
  const { tools = {}, prompts = {}, resources = {}, otherwise = [], implies = {} } = scopeRules;
  const ruled = [tools, prompts, resources].flatMap((table) => Object.values(table).flat());
  const named = new Set([...ruled, ...otherwise, ...Object.keys(implies)]);
  return Object.keys(scopes).filter((scope) => !named.has(scope));
}
