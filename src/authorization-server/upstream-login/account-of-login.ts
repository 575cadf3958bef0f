import { isUnknownPassword } from '../../crypto/password.ts';
import { hashSecret } from '../../crypto/secret.ts';
import {
  type Account,
  type AccountStore,
  type IdentityStore,
  normalizeEmail,
} from '../../storage/accounts.ts';
import type { Upstream, UpstreamIdentity, Upstreams } from '../../upstream/upstream.ts';
import { createAccount, type FoundAccount, isEmailAddress, linkAccount } from '../found-account.ts';
import { domainOf } from './admission.ts';
import { NotAdmitted } from './purposes.ts';

/** Returns true if the operator trusts the verified e-mail addresses of an issuer in a domain. */
export type TrustsEmailDomain = (issuer: string, domain: string) => boolean;

/** Reads this trust from the settings of the upstreams. */
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

function admit(account: Account): FoundAccount {
  if (account.disabledAt !== undefined) throw new NotAdmitted('account_disabled');
  return { account, by: 'known', changes: [] };
}

/**
 * Finds the account of a login at an upstream: by issuer and subject; else by the verified e-mail address, once, in the
 * domains that the operator named; else it creates an account (T-089). An account that is linked to another subject of
 * the issuer is never returned, whoever has its address now. The same holds for an account that another upstream
 * created without the operator's trust in its addresses: its creator could still log in.
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
  if (known) return admit(known);

  const email = normalizeEmail(identity.email ?? '');
  const isAddress = isEmailAddress(email);
  const namesake = isAddress ? await accounts.findByEmail(email) : undefined;
  if (namesake) {
    const taken = await identities.findSubject(issuer, namesake.id);
    // Another login has linked it between these reads.
    if (taken === subject) return admit(namesake);
    const domain = domainOf(email);
    if (!takesWordFor(upstream, domain)) throw new NotAdmitted('email_taken');
    if (namesake.disabledAt !== undefined) throw new NotAdmitted('account_disabled');
    if (taken !== undefined) throw new NotAdmitted('linked_to_another');
    const madeBy = isUnknownPassword(namesake.passwordHash) ? await identities.listOf(namesake.id) : [];
    if (!madeBy.every((made) => isBelieved(made.issuer, domain))) throw new NotAdmitted('email_taken');
    return linkAccount(namesake, identity, now());
  }
  if (!settings.accounts.create) throw new NotAdmitted('accounts_not_created');
  return createAccount(isAddress ? email : addressWithoutMail(name, identity), identity, now());
}
