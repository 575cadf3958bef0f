/** A person who can log in. */
export interface Account {
  /** Opaque, never reused: the `sub` of tokens. */
  id: string;
  /** As typed by the operator, in lower case. */
  email: string;
  /** PHC string. */
  passwordHash: string;
  /** Epoch seconds. */
  createdAt: number;
  /** Since when it may not be used, epoch seconds; absent while it may. */
  disabledAt?: number;
}

/**
 * Accounts. Removing or disabling one or changing its password ends its sessions, grants and tokens in the same commit.
 */
export interface AccountStore {
  /** Keeps a new account; false where the e-mail address is taken. */
  add(account: Account): Promise<boolean>;
  find(id: string): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Account | undefined>;
  /** Gives all accounts, by e-mail address. */
  list(): Promise<Account[]>;
  /**
   * Sets the password and ends every session and grant; false where there is no such account, or its hash is not
   * `from`, where that is given.
   */
  setPassword(id: string, passwordHash: string, from?: string): Promise<boolean>;
  /**
   * Uses up a password reset ({@link passwordResetKind}) and sets the password as {@link setPassword} does, in one
   * commit: of many who come with it one wins (T-123).
   * @param resetId hashed id of the reset
   * @param at epoch seconds
   * @returns the account; undefined where the reset is gone or has expired
   */
  resetPassword(resetId: string, passwordHash: string, at: number): Promise<string | undefined>;
  /** Shuts the account since a time (epoch seconds) and ends every session and grant, or opens it again with undefined; false where there is no such account. */
  setDisabled(id: string, since: number | undefined): Promise<boolean>;
  /** Replaces the hash of the same password by a better one, and ends nothing; false where the hash is not `from` any more. */
  rehash(id: string, from: string, to: string): Promise<boolean>;
  /** Removes the account and all that is its own; false where there is no such account. */
  remove(id: string): Promise<boolean>;
}

/** The kind of artifact that lets whoever holds it set the password of its account. */
export const passwordResetKind = 'PasswordReset';

/** The form in which an e-mail address is kept and compared. */
export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
