import { isUnknownPassword } from '../../crypto/password.ts';
import { hashSecret } from '../../crypto/secret.ts';
import { type AccountStore, type IdentityStore, normalizeEmail } from '../../storage/accounts.ts';
import type { Upstream, UpstreamIdentity, Upstreams } from '../../upstream/upstream.ts';
import { createAccount, type FoundAccount, isEmailAddress, linkAccount } from '../found-account.ts';
import { domainOf } from './admission.ts';
import { NotAdmitted } from './purposes.ts';

/** Returns true if the operator takes the word of an issuer for addresses of a domain. */
export type TrustsEmailDomain = (issuer: string, domain: string) => boolean;

/** Looks that up in the settings of upstreams. */
export function trustsEmailDomain({ all }: Pick<Upstreams, 'all'>): TrustsEmailDomain {
  return (issuer, domain) =>
    all.some((upstream) => upstream.issuer === issuer && takesWordFor(upstream, domain));
}

function takesWordFor({ settings }: Pick<Upstream, 'settings'>, domain: string): boolean {
  return settings.accounts.linkByVerifiedEmail.some((each) => each.toLowerCase() === domain);
}

/** Options for finding an account. */
export interface AccountOfLoginOptions {
  accounts: Pick<AccountStore, 'find' | 'findByEmail'>;
  identities: Pick<IdentityStore, 'findAccount' | 'findSubject' | 'listOf'>;
  isBelieved: TrustsEmailDomain;
  /** Epoch seconds. */
  now: () => number;
}

/** The address of an account that comes without one: nobody has mail there (RFC 2606). */
function addressWithoutMail(upstream: string, { issuer, subject }: UpstreamIdentity): string {
  const name = hashSecret('UpstreamAccount', JSON.stringify([issuer, subject])).toLowerCase();
  return `${name.replaceAll(/[^a-z0-9]/g, '').slice(0, 16)}@${upstream}.invalid`;
}

/**
 * Finds the account of somebody who has logged in at an upstream: by issuer and subject; else, in domains that the
 * operator named, by the address that the upstream has verified, once; else a new one (T-089). An account that is known
 * at the issuer as somebody else is not given to another, whoever has its address now; nor is one given that was made by an
 * upstream which the operator does not believe about the address: whoever made it can come in there.
 * @throws NotAdmitted
 */
export async function findAccountOfLogin(
  { accounts, identities, isBelieved, now }: AccountOfLoginOptions,
  upstream: Pick<Upstream, 'name' | 'settings'>,
  identity: UpstreamIdentity,
): Promise<FoundAccount> {
  const { name, settings } = upstream;
  const { issuer, subject } = identity;
  const linked = await identities.findAccount({ issuer, subject });
  const known = linked === undefined ? undefined : await accounts.find(linked);
  if (known?.disabledAt !== undefined) throw new NotAdmitted('account_disabled');
  if (known) return { account: known, by: 'known', changes: [] };

  const email = normalizeEmail(identity.email ?? '');
  const isAddress = isEmailAddress(email);
  const namesake = isAddress ? await accounts.findByEmail(email) : undefined;
  if (namesake) {
    const domain = domainOf(email);
    if (!takesWordFor(upstream, domain)) throw new NotAdmitted('email_taken');
    if (namesake.disabledAt !== undefined) throw new NotAdmitted('account_disabled');
    if ((await identities.findSubject(issuer, namesake.id)) !== undefined)
      throw new NotAdmitted('linked_to_another');
    const madeBy = isUnknownPassword(namesake.passwordHash) ? await identities.listOf(namesake.id) : [];
    if (!madeBy.every((made) => isBelieved(made.issuer, domain))) throw new NotAdmitted('email_taken');
    return linkAccount(namesake, identity, now());
  }
  if (!settings.accounts.create) throw new NotAdmitted('accounts_not_created');
  return createAccount(isAddress ? email : addressWithoutMail(name, identity), identity, now());
}
