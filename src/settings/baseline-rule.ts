import type { RoutesSettings } from './routes.ts';

type ScopedRoute = Pick<RoutesSettings[string], 'scopes' | 'baselineScopes' | 'scopeRules'>;

/**
 * Gives a route that declares scopes, and says of nothing that it needs one, the rule that everything needs its baseline
 * scopes: whoever names finer scopes than `mcp`, which everything needs, does not open the route to logins without any.
 * @returns the route as it was where it has rules, or no scopes of its own
 */
export function withBaselineRule<Route extends ScopedRoute>(route: Route): Route {
  const { scopes, baselineScopes, scopeRules = {} } = route;
  const { tools = {}, prompts = {}, resources = {}, otherwise } = scopeRules;
  const hasRules = [tools, prompts, resources].some((table) => Object.keys(table).length > 0);
  if (scopes === undefined || hasRules || otherwise !== undefined) return route;
  const baseline = baselineScopes?.length ? baselineScopes : Object.keys(scopes);
  return { ...route, scopeRules: { ...scopeRules, otherwise: baseline } };
}

/** Names the scopes a route declares that nothing needs: whoever lacks one may do all the same. */
export function findIdleScopes({ scopes = {}, scopeRules = {} }: ScopedRoute): string[] {
  const { tools = {}, prompts = {}, resources = {}, otherwise = [], implies = {} } = scopeRules;
  const ruled = [tools, prompts, resources].flatMap((table) => Object.values(table).flat());
  const named = new Set([...ruled, ...otherwise, ...Object.keys(implies)]);
  return Object.keys(scopes).filter((scope) => !named.has(scope));
}
