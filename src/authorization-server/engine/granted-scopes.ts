import { parseScope } from '../../oauth/scope.ts';

/**
 * Indicators of an authorization request that names no resource, while several servers can be meant: the person chooses
 * (FA-20). `unscoped` is for a request without scopes, which becomes one for the baseline scopes of the chosen server.
 */
export const undecidedResource = {
  scoped: 'urn:gatehouse:undecided',
  unscoped: 'urn:gatehouse:undecided:unscoped',
} as const;

/** The part of the engine's grant that says what a person answered: scopes by resource. */
export interface ConsentedScopes {
  resources?: Readonly<Record<string, string>>;
  /** Scopes that were requested and not granted. */
  rejected?: Pick<ConsentedScopes, 'resources'>;
}

/**
 * Reads the scopes of a grant by resource.
 * @returns the scopes of each named resource; none if the grant only allows use without scopes
 */
export function grantedScopes({
  resources = {},
  rejected,
}: ConsentedScopes): Record<string, readonly string[]> {
  const { [undecidedResource.scoped]: _choice, ...refused } = rejected?.resources ?? {};
  const named = { ...refused, ...resources };
  return Object.fromEntries(Object.keys(named).map((name) => [name, parseScope(resources[name])]));
}

/** Returns true if the user chose the server of a grant, because the client's request named none; see `makeGrant`. */
export function hasChosenServer({ rejected }: ConsentedScopes): boolean {
  return rejected?.resources?.[undecidedResource.scoped] !== undefined;
}
