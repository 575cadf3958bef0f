import type { Credential, FormerLogin, LoginChoices, MachineLogin } from '../stores/credential-store.ts';

/**
 * Returns the parts of a login that a store keeps after its tokens are gone.
 * @param credential the credential of the login, if there was one
 */
export function formerLogin(credential: Credential | undefined): FormerLogin {
  if (credential === undefined) return {};
  const machine = machineOf(credential);
  return {
    issuer: credential.authorizationServer.issuer,
    ...(machine && { machine }),
    chosen: choicesOf(credential),
  };
}

/** Returns the user's choices at the login of a credential. */
export function choicesOf({ dpopKey, withoutResource }: Credential): LoginChoices {
  return { ...(dpopKey && { dpop: true }), ...(withoutResource && { withoutResource }) };
}

/** Choices of an earlier login that the next one repeats. */
export interface InheritedChoices {
  /** True if the `resource` parameter is omitted (CL-5). */
  withoutResource?: true;
  /** True if the earlier token was bound to a key, so that the new one is bound, too (RFC 9449). */
  dpopKept?: true;
}

/**
 * Decides which choices of the earlier login apply to a new one. A different authorization server gets the
 * `resource` parameter, because only the earlier server rejected it, and it is asked for a bound token only
 * if its metadata lists DPoP algorithms.
 * @param options choices for the new login, and the earlier login
 * @param authorizationServer metadata of the authorization server of the new login
 */
export function inheritedChoices(
  options: { withoutResource?: boolean | undefined; before?: FormerLogin | undefined },
  authorizationServer: { issuer: string; dpop_signing_alg_values_supported?: readonly string[] | undefined },
): InheritedChoices {
  const { issuer, chosen = {} } = options.before ?? {};
  const isSame = issuer === authorizationServer.issuer;
  const knowsKeys = isSame || authorizationServer.dpop_signing_alg_values_supported !== undefined;
  const withoutResource = options.withoutResource ?? (isSame && chosen.withoutResource);
  return {
    ...(withoutResource && { withoutResource }),
    ...(chosen.dpop && knowsKeys && { dpopKept: true }),
  };
}

/** Returns the machine identity of a credential; undefined if a person logged in. */
export function machineOf({ clientId, grant, workload }: Credential): MachineLogin | undefined {
  if (workload) return { grant: 'workload_identity', clientId, proof: 'assertion' };
  return grant && { grant: grant.type, clientId, proof: grant.privateKey === undefined ? 'secret' : 'key' };
}
