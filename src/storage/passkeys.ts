/** A passkey of a person: the public key of a credential that their device or password store holds. */
export interface StoredPasskey {
  /** Credential id, base64url. */
  id: string;
  accountId: string;
  /** What the person calls it. */
  name: string;
  /** COSE key. */
  publicKey: Uint8Array;
  /** How often it has signed, as it says itself; 0 for one that does not count. */
  counter: number;
  /** Whether it is kept on several devices. */
  isSynced: boolean;
  /** How a browser reaches it (`internal`, `usb` …). */
  transports: readonly string[];
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds; absent until the first login with it. */
  usedAt?: number;
}

/** Passkeys. They go with their account. */
export interface PasskeyStore {
  /** Keeps a new passkey; false where its id is taken, or the account is gone or has `most` already. */
  add(passkey: StoredPasskey, most: number): Promise<boolean>;
  find(id: string): Promise<StoredPasskey | undefined>;
  /** Gives the passkeys of an account, oldest first. */
  listOf(accountId: string): Promise<StoredPasskey[]>;
  /** Whether anybody has one. */
  isAnyKept(): Promise<boolean>;
  /**
   * Notes a login with the counter it came with; false where the passkey is gone, or the counter has not grown: then
   * there are two of it (Web Authentication section 6.1.1).
   * @param at epoch seconds
   */
  use(id: string, counter: number, at: number): Promise<boolean>;
  /** Gives a passkey of an account another name; false where the account has none with this id. */
  rename(accountId: string, id: string, name: string): Promise<boolean>;
  /**
   * Forgets a passkey of an account; false where the account has none with this id.
   * @param waysIn issuers it can log in through, where it has no password
   * @throws LastWayIn
   */
  remove(accountId: string, id: string, waysIn?: readonly string[]): Promise<boolean>;
}
