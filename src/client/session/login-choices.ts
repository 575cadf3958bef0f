import type { Credential, FormerLogin, LoginChoices } from '../stores/credential-store.ts';

/** @returns what was chosen at the login a credential came of */
export function choicesOf({ dpopKey, withoutResource }: Credential): LoginChoices {
  return { ...(dpopKey && { dpop: true }), ...(withoutResource && { withoutResource }) };
}

/** What a login does as was chosen for it, or for the one before. */
export interface KeptChoices {
  /** True where the authorization server is not told the `resource` (CL-5). */
  withoutResource?: true;
  /** True where the login before was bound to a key, so that this one is bound, too (RFC 9449). */
  dpopKept?: true;
}

/**
 * Finds out what of the login before is good for a new one. An authorization server that has taken the place of another
 * is told the `resource`, which only that one refused, and asked for a bound token where it says that it knows them.
 * @param options what was chosen for the new one, and the one before
 * @param authorizationServer metadata of the authorization server of the new one
 */
export function keptChoices(
  options: { withoutResource?: boolean | undefined; before?: FormerLogin | undefined },
  authorizationServer: { issuer: string; dpop_signing_alg_values_supported?: readonly string[] | undefined },
): KeptChoices {
  const { issuer, chosen = {} } = options.before ?? {};
  const isSame = issuer === authorizationServer.issuer;
  const knowsKeys = isSame || authorizationServer.dpop_signing_alg_values_supported !== undefined;
  const withoutResource = options.withoutResource ?? (isSame && chosen.withoutResource);
  return {
    ...(withoutResource && { withoutResource }),
    ...(chosen.dpop && knowsKeys && { dpopKept: true }),
  };
}
