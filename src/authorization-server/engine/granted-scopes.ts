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
  /** What was asked for and not given. */
  rejected?: Pick<ConsentedScopes, 'resources'>;
}

/**
 * Reads what a grant gives, by resource.
 * @returns the scopes of each that the grant names; none where it gives only what needs no scope
 */
export function grantedScopes({
  resources = {},
  rejected,
}: ConsentedScopes): Record<string, readonly string[]> {
  const { [undecidedResource.scoped]: _choice, ...refused } = rejected?.resources ?? {};
  const named = { ...refused, ...resources };
  return Object.fromEntries(Object.keys(named).map((name) => [name, parseScope(resources[name])]));
}

/** Whether the person chose the server of a grant, as the request of the client named none; see `makeGrant`. */
export function hasChosenServer({ rejected }: ConsentedScopes): boolean {
  return rejected?.resources?.[undecidedResource.scoped] !== undefined;
}
