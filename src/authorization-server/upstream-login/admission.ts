import { comparableClaim } from '../../oauth/issuer.ts';
import type { UpstreamIdentity } from '../../upstream/upstream.ts';
import type { NotAdmittedReason } from './purposes.ts';

/** Who may come in through an upstream; everybody it knows where neither is there. */
export interface AdmissionRule {
  /** Domains of verified e-mail addresses. */
  domains?: readonly string[] | undefined;
  /** Claims, each with the values of which one has to be there. */
  claims?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Gives the domain of an e-mail address in lower case; empty where there is none. */
export function domainOf(email: string | undefined): string {
  return email === undefined ? '' : email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

/** Whether a claim is, or has among others, one of the values: text with respect to case, a whole number or a Boolean. */
export function hasClaim(
  claims: Readonly<Record<string, unknown>>,
  name: string,
  values: readonly string[],
): boolean {
  const held = Object.hasOwn(claims, name) ? [claims[name]].flat() : [];
  return held.some((value) => {
    const text = comparableClaim(value);
    return text !== undefined && values.includes(text);
  });
}

/**
 * Checks whether somebody may come in: by the domain of their verified address, and by every claim the operator named
 * (group, organisation, tenant).
 * @returns the rule they do not fit; undefined where they may
 */
export function checkAdmission(
  { domains, claims = {} }: AdmissionRule,
  identity: Pick<UpstreamIdentity, 'email' | 'claims'>,
): NotAdmittedReason | undefined {
  const domain = domainOf(identity.email);
  if (domains && !domains.some((each) => domain !== '' && each.toLowerCase() === domain))
    return 'domain_not_allowed';
  const fits = Object.entries(claims).every(([name, values]) => hasClaim(identity.claims, name, values));
  return fits ? undefined : 'claims_not_allowed';
}
