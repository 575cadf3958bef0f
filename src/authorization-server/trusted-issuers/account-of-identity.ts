import { randomUUID } from 'node:crypto';
import { unknownPasswordHash } from '../../crypto/password.ts';
import { type Account, type AccountStore, normalizeEmail } from '../../storage/accounts.ts';
import type { Identity, IdentityChange, IdentityStore } from '../../storage/identities.ts';
import type { AccountRules } from './trusted-issuer.ts';

/** What an assertion says of a person. */
export interface AssertedPerson extends Identity {
  /** Undefined where the issuer names none, or says that it is not verified. */
  email: string | undefined;
}

/** Whose account it is, and what has to be written for that. */
export interface FoundAccount {
  account: Account;
  /** How it was found; `linked` and `created` are so from now on. */
  by: 'known' | 'linked' | 'created';
  changes: readonly IdentityChange[];
}

/** What accounts are found with. */
export interface AccountSources {
  accounts: Pick<AccountStore, 'find' | 'findByEmail'>;
  identities: IdentityStore;
  /** Epoch seconds. */
  now: () => number;
}

/** One `@`, no blanks, nothing that does not print (T-190). */
const emailShape = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,189}$/u;

/** Whether the operator takes the issuer's word for an address. */
function isVouchedFor(email: string, { emailDomains }: AccountRules): boolean {
  return emailShape.test(email) && emailDomains.includes(email.slice(email.indexOf('@') + 1));
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
  const link = (accountId: string): IdentityChange => ({
    type: 'linkIdentity',
    issuer,
    subject,
    accountId,
    at: now(),
  });
  const account = await accounts.findByEmail(email);
  if (account) {
    const isTaken = (await identities.findSubject(issuer, account.id)) !== undefined;
    if (isTaken || account.disabledAt !== undefined) return undefined;
    return { account, by: 'linked', changes: [link(account.id)] };
  }
  if (!rules.create) return undefined;
  // Nobody knows this password: whoever wants to log in without the identity provider has it reset.
  const passwordHash = unknownPasswordHash();
  const created = { id: `acct_${randomUUID()}`, email, passwordHash, createdAt: now() };
  return {
    account: created,
    by: 'created',
    changes: [{ type: 'addAccount', account: created }, link(created.id)],
  };
}
