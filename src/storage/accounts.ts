/** An account that can log in. */
export interface Account {
  /** Opaque, never reused: the `sub` of tokens. */
  id: string;
  /** E-mail address in the form of {@link normalizeEmail}. */
  email: string;
  /** PHC string. */
  passwordHash: string;
  /** Epoch seconds. */
  createdAt: number;
  /** Time at which the account was disabled, epoch seconds; absent if it is enabled. */
  disabledAt?: number;
}

/**
 * Accounts. Removing or disabling an account, or changing its password, ends its sessions, grants and tokens in the
 * same commit.
 */
export interface AccountStore {
  /**
   * Stores a new account.
   * @returns false if the e-mail address is taken
   */
  add(account: Account): Promise<boolean>;
  find(id: string): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Account | undefined>;
  /** Returns all accounts, sorted by e-mail address. */
  list(): Promise<Account[]>;
  /**
   * Sets the password and ends every session and grant.
   * @param from expected present hash
   * @returns false if there is no such account, or its hash is not `from`
   */
  setPassword(id: string, passwordHash: string, from?: string): Promise<boolean>;
  /**
   * Consumes a password reset ({@link passwordResetKind}) and sets the password as {@link setPassword} does, in one
   * commit: of several concurrent callers one succeeds (T-123).
   * @param resetId hashed id of the reset
   * @param at epoch seconds
   * @returns the account id; undefined if the reset is gone or has expired
   */
  resetPassword(resetId: string, passwordHash: string, at: number): Promise<string | undefined>;
  /**
   * Disables the account and ends every session and grant, or enables it again.
   * @param since epoch seconds; undefined enables the account
   * @returns false if there is no such account
   */
  setDisabled(id: string, since: number | undefined): Promise<boolean>;
  /**
   * Replaces the hash of an unchanged password by a stronger one; sessions and grants stay.
   * @returns false if the stored hash is not `from`
   */
  rehash(id: string, from: string, to: string): Promise<boolean>;
  /**
   * Removes the account with everything that belongs to it.
   * @returns false if there is no such account
   */
  remove(id: string): Promise<boolean>;
}

/** The artifact kind of a password reset: its holder may set the password of the account. */
export const passwordResetKind = 'PasswordReset';

/** Normalizes an e-mail address for storage and comparison. */
export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** A user at an external identity provider. */
export interface Identity {
  /** Issuer identifier of the provider. */
  issuer: string;
  /** `sub` at the provider; unique there and never reassigned. */
  subject: string;
}

/** Links an external identity to an account. */
export interface LinkIdentity extends Identity {
  type: 'linkIdentity';
  accountId: string;
  /** Epoch seconds. */
  at: number;
}

/**
 * Changes to accounts and identities within a commit. The commit is rejected if the e-mail address is taken, if the
 * identity belongs to another account, or if the account has another subject at this issuer (T-104).
 */
export type IdentityChange = { type: 'addAccount'; account: Account } | LinkIdentity;

/** An identity linked to an account. */
export interface KnownIdentity extends Identity {
  /** Epoch seconds. */
  linkedAt: number;
}

/** The removal would leave the account no way to log in: neither a passkey nor an identity. Nothing was changed. */
export class LastLoginMethod extends Error {
  override name = 'LastLoginMethod';
  constructor() {
    super('nobody could log in to the account any more');
  }
}

/** Links between external identities and accounts. A link is removed with its account. */
export interface IdentityStore {
  /** Returns the account of an identity; undefined if it is not linked. */
  findAccount(identity: Identity): Promise<string | undefined>;
  /** Returns the account's subject at an issuer; undefined if it has none. */
  findSubject(issuer: string, accountId: string): Promise<string | undefined>;
  /** Returns the identities of an account, the oldest first. */
  listOf(accountId: string): Promise<KnownIdentity[]>;
  /**
   * Unlinks the account's identity at an issuer.
   * @param waysIn issuers through which the account can log in, if it has no password
   * @returns false if there is no such identity
   * @throws LastLoginMethod
   */
  forget(issuer: string, accountId: string, waysIn?: readonly string[]): Promise<boolean>;
}

/** A passkey: the public key of a credential that the user's device or password store holds. */
export interface StoredPasskey {
  /** Credential id, base64url. */
  id: string;
  accountId: string;
  /** Name chosen by the user. */
  name: string;
  /** COSE key. */
  publicKey: Uint8Array;
  /** Signature counter reported by the authenticator; 0 if it does not count. */
  counter: number;
  /** True if the credential is backed up to several devices. */
  isSynced: boolean;
  /** Transports through which a browser reaches it (`internal`, `usb` …). */
  transports: readonly string[];
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds; absent until the first login with it. */
  usedAt?: number;
}

/** Passkeys. They are removed with their account. */
export interface PasskeyStore {
  /**
   * Stores a new passkey.
   * @returns false if its id is taken, the account is gone, or the account has `most` passkeys already
   */
  add(passkey: StoredPasskey, most: number): Promise<boolean>;
  find(id: string): Promise<StoredPasskey | undefined>;
  /** Returns the passkeys of an account, oldest first. */
  listOf(accountId: string): Promise<StoredPasskey[]>;
  /** Returns true if any account has a passkey. */
  isAnyStored(): Promise<boolean>;
  /**
   * Records a login with its signature counter.
   * @param at epoch seconds
   * @returns false if the passkey is gone, or if the counter did not grow: the credential was cloned (Web
   * Authentication section 6.1.1)
   */
  use(id: string, counter: number, at: number): Promise<boolean>;
  /**
   * Renames a passkey.
   * @returns false if the account has none with this id
   */
  rename(accountId: string, id: string, name: string): Promise<boolean>;
  /**
   * Removes a passkey.
   * @param waysIn issuers through which the account can log in, if it has no password
   * @returns false if the account has none with this id
   * @throws LastLoginMethod
   */
  remove(accountId: string, id: string, waysIn?: readonly string[]): Promise<boolean>;
}

/** One-time codes (RFC 6238) that an account requires after the password. */
export interface StoredOneTimeCodes {
  /** The shared secret, sealed. */
  secret: Uint8Array;
  /** Time step of the last accepted code. */
  lastStep: number;
  /** Epoch seconds. */
  createdAt: number;
  recoveryCodesLeft: number;
}

/** One-time codes and their recovery codes. They are removed with their account. */
export interface OneTimeCodeStore {
  /**
   * Enables one-time codes.
   * @param recoveryIds hashes of the recovery codes
   * @returns false if they are enabled already, or there is no such account
   */
  enable(
    accountId: string,
    codes: Omit<StoredOneTimeCodes, 'recoveryCodesLeft'>,
    recoveryIds: readonly string[],
  ): Promise<boolean>;
  /** Returns the codes of an account; undefined if they are disabled. */
  find(accountId: string): Promise<StoredOneTimeCodes | undefined>;
  /**
   * Accepts the code of a time step.
   * @returns false if a code of this or a later step was accepted before (RFC 6238 section 5.2)
   */
  useStep(accountId: string, step: number): Promise<boolean>;
  /**
   * Consumes a recovery code by its hash.
   * @returns false if it is unknown or was used
   */
  useRecoveryCode(accountId: string, id: string): Promise<boolean>;
  /**
   * Replaces all recovery codes.
   * @returns false if one-time codes are disabled
   */
  replaceRecoveryCodes(accountId: string, recoveryIds: readonly string[]): Promise<boolean>;
  /**
   * Disables one-time codes.
   * @returns false if they are disabled already
   */
  disable(accountId: string): Promise<boolean>;
}
