import { hasClaim } from './admission.ts';
import type { NotAdmittedReason } from './purposes.ts';

/** Whoever has a claim with this value may be given these scopes. */
export interface ScopeRule {
  claim: string;
  value: string;
  scopes: readonly string[];
}

/**
 * Gives those scopes that somebody may be given for the roles and groups an upstream says they have.
 * @param rules undefined where everybody may have every scope
 * @param claims what the upstream says
 */
export function scopesForRoles(
  rules: readonly ScopeRule[] | undefined,
  claims: Readonly<Record<string, unknown>>,
  scopes: readonly string[],
): string[] {
  if (rules === undefined) return [...scopes];
  const given = new Set(
    rules.filter(({ claim, value }) => hasClaim(claims, claim, [value])).flatMap((rule) => rule.scopes),
  );
  return scopes.filter((scope) => given.has(scope));
}

/**
 * Checks whether somebody may be given any of the scopes that are wanted.
 * @param wanted scopes of the resource
 * @returns the rule they do not fit; undefined where something is left, or none is wanted
 */
export function checkRoles(
  rules: readonly ScopeRule[] | undefined,
  claims: Readonly<Record<string, unknown>>,
  wanted: readonly string[],
): NotAdmittedReason | undefined {
  const isNoneLeft = wanted.length > 0 && scopesForRoles(rules, claims, wanted).length === 0;
  return isNoneLeft ? 'no_scope_for_roles' : undefined;
}
