import { randomUUID } from 'node:crypto';
import { unknownPasswordHash } from '../crypto/password.ts';
import type { Account, Identity, IdentityChange } from '../storage/accounts.ts';

/** The account that an identity provider speaks for, and the writes that this needs. */
export interface FoundAccount {
  account: Account;
  /** Origin of the account; `linked` and `created` take effect with the commit. */
  by: 'known' | 'linked' | 'created';
  changes: readonly IdentityChange[];
}

/** One `@`, no blanks, nothing that does not print (T-190). */
const emailShape = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,189}$/u;

/** Returns true if a text of an identity provider is one e-mail address. */
export function isEmailAddress(text: string): boolean {
  return emailShape.test(text);
}

function linkIdentity({ issuer, subject }: Identity, accountId: string, at: number): IdentityChange {
  return { type: 'linkIdentity', issuer, subject, accountId, at };
}

/**
 * Returns an account to an identity.
 * @param at epoch seconds
 */
export function linkAccount(account: Account, identity: Identity, at: number): FoundAccount {
  return { account, by: 'linked', changes: [linkIdentity(identity, account.id, at)] };
}

/**
 * Creates the account of an identity. Its password is random: a user who wants to log in without the identity provider
 * needs a reset.
 * @param at epoch seconds
 */
export function createAccount(email: string, identity: Identity, at: number): FoundAccount {
  const id = `acct_${randomUUID()}`;
  const account = { id, email, passwordHash: unknownPasswordHash(), createdAt: at };
  return {
    account,
    by: 'created',
    changes: [{ type: 'addAccount', account }, linkIdentity(identity, id, at)],
  };
}
