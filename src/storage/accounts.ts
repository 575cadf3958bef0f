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
}

/** Accounts. Removing one or changing its password ends its sessions, grants and tokens in the same commit. */
export interface AccountStore {
  /** Keeps a new account; false where the e-mail address is taken. */
  add(account: Account): Promise<boolean>;
  find(id: string): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Account | undefined>;
  /** Gives all accounts, by e-mail address. */
  list(): Promise<Account[]>;
  /** Sets the password and ends every session and grant; false where there is no such account. */
  setPassword(id: string, passwordHash: string): Promise<boolean>;
  /** Replaces the hash of the same password by a better one, and ends nothing; false where the hash is not `from` any more. */
  rehash(id: string, from: string, to: string): Promise<boolean>;
  /** Removes the account and all that is its own; false where there is no such account. */
  remove(id: string): Promise<boolean>;
}

/** The form in which an e-mail address is kept and compared. */
export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
