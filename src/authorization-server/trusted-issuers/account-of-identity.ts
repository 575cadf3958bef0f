import {
  type Account,
  type AccountStore,
  type Identity,
  type IdentityStore,
  normalizeEmail,
} from '../../storage/accounts.ts';
import { createAccount, type FoundAccount, isEmailAddress, linkAccount } from '../found-account.ts';
import type { AccountRules } from './trusted-issuer.ts';

/** What an assertion says of a person. */
export interface AssertedPerson extends Identity {
  /** Undefined if the issuer names none, or does not say that it is verified. */
  email: string | undefined;
}

/** What accounts are found with. */
export interface AccountSources {
  accounts: Pick<AccountStore, 'find' | 'findByEmail'>;
  identities: IdentityStore;
  /** Epoch seconds. */
  now: () => number;
}

/** Whether the operator takes the issuer's word for an address. */
function isVouchedFor(email: string, { emailDomains }: AccountRules): boolean {
  return isEmailAddress(email) && emailDomains.includes(email.slice(email.indexOf('@') + 1));
}

/**
 * Finds the account of a person that an identity provider speaks for (A13-08, T-104): by the operator's list, else by the
 * subject it was linked to before, else, for domains that the operator named, by the e-mail address, once: an account
 * that the issuer knows as somebody else already is not given to another, whoever has its address now.
 * @returns undefined where nobody is meant who may come in; a disabled account is nobody's
 */
export async function findAccount(
  { accounts, identities, now }: AccountSources,
  rules: AccountRules,
  person: AssertedPerson,
): Promise<FoundAccount | undefined> {
  const { issuer, subject } = person;
  const known = (account: Account | undefined): FoundAccount | undefined =>
    account && account.disabledAt === undefined ? { account, by: 'known', changes: [] } : undefined;

  if (Object.hasOwn(rules.subjects, subject))
    return known(await accounts.findByEmail(rules.subjects[subject] ?? ''));
  const linked = await identities.findAccount({ issuer, subject });
  if (linked !== undefined) return known(await accounts.find(linked));

  const email = normalizeEmail(person.email ?? '');
  if (!isVouchedFor(email, rules)) return undefined;
  const account = await accounts.findByEmail(email);
  if (account) {
    const isTaken = (await identities.findSubject(issuer, account.id)) !== undefined;
    if (isTaken || account.disabledAt !== undefined) return undefined;
    return linkAccount(account, { issuer, subject }, now());
  }
  if (!rules.create) return undefined;
  return createAccount(email, { issuer, subject }, now());
}
