import { randomUUID } from 'node:crypto';
import { isUnknownPassword, unknownPasswordHash } from '../../crypto/password.ts';
import { hashSecret } from '../../crypto/secret.ts';
import { type Account, type AccountStore, normalizeEmail } from '../../storage/accounts.ts';
import type { IdentityChange, IdentityStore } from '../../storage/identities.ts';
import type { Upstream, UpstreamIdentity, Upstreams } from '../../upstream/upstream.ts';
import { domainOf } from './admission.ts';
import { NotAdmitted } from './purposes.ts';

/** Whose account it is, and what has to be written for that. */
export interface AccountOfLogin {
  account: Account;
  /** How it was found; `linked` and `created` are so from now on. */
  by: 'known' | 'linked' | 'created';
  changes: readonly IdentityChange[];
}

/** Whether the operator takes the word of an issuer for addresses of a domain. */
export type BelievedAbout = (issuer: string, domain: string) => boolean;

/** Looks that up in the settings of upstreams. */
export function believedAbout({ all }: Pick<Upstreams, 'all'>): BelievedAbout {
  return (issuer, domain) =>
    all.some((upstream) => upstream.issuer === issuer && takesWordFor(upstream, domain));
}

function takesWordFor({ settings }: Pick<Upstream, 'settings'>, domain: string): boolean {
  return settings.accounts.linkByVerifiedEmail.some((each) => each.toLowerCase() === domain);
}

/** What accounts are found with. */
export interface AccountOfLoginOptions {
  accounts: Pick<AccountStore, 'find' | 'findByEmail'>;
  identities: Pick<IdentityStore, 'findAccount' | 'findSubject' | 'listOf'>;
  isBelieved: BelievedAbout;
  /** Epoch seconds. */
  now: () => number;
}

/** One `@`, no blanks, nothing that does not print (T-190). */
const emailShape = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,189}$/u;

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
): Promise<AccountOfLogin> {
  const { name, settings } = upstream;
  const { issuer, subject } = identity;
  const linked = await identities.findAccount({ issuer, subject });
  const known = linked === undefined ? undefined : await accounts.find(linked);
  if (known?.disabledAt !== undefined) throw new NotAdmitted('account_disabled');
  if (known) return { account: known, by: 'known', changes: [] };

  const link = (accountId: string): IdentityChange => ({
    type: 'linkIdentity',
    issuer,
    subject,
    accountId,
    at: now(),
  });
  const email = normalizeEmail(identity.email ?? '');
  const isAddress = emailShape.test(email);
  const namesake = isAddress ? await accounts.findByEmail(email) : undefined;
  if (namesake) {
    const domain = domainOf(email);
    if (!takesWordFor(upstream, domain)) throw new NotAdmitted('email_taken');
    if (namesake.disabledAt !== undefined) throw new NotAdmitted('account_disabled');
    if ((await identities.findSubject(issuer, namesake.id)) !== undefined)
      throw new NotAdmitted('linked_to_another');
    const madeBy = isUnknownPassword(namesake.passwordHash) ? await identities.listOf(namesake.id) : [];
    if (!madeBy.every((made) => isBelieved(made.issuer, domain))) throw new NotAdmitted('email_taken');
    return { account: namesake, by: 'linked', changes: [link(namesake.id)] };
  }
  if (!settings.accounts.create) throw new NotAdmitted('accounts_not_created');
  const account: Account = {
    id: `acct_${randomUUID()}`,
    email: isAddress ? email : addressWithoutMail(name, identity),
    // Nobody knows this password: whoever wants to log in without the upstream has it reset.
    passwordHash: unknownPasswordHash(),
    createdAt: now(),
  };
  return { account, by: 'created', changes: [{ type: 'addAccount', account }, link(account.id)] };
}
