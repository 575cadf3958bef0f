/** That an account asks for a one-time code (RFC 6238) after the password. */
export interface StoredOneTimeCodes {
  /** The shared secret, sealed. */
  secret: Uint8Array;
  /** The last time step a code was taken of. */
  lastStep: number;
  /** Epoch seconds. */
  createdAt: number;
  recoveryCodesLeft: number;
}

/** One-time codes and what replaces them when the device is lost. They go with their account. */
export interface OneTimeCodeStore {
  /** Turns codes on; false where they are on already, or there is no such account. @param recoveryIds hashes */
  enable(
    accountId: string,
    codes: Omit<StoredOneTimeCodes, 'recoveryCodesLeft'>,
    recoveryIds: readonly string[],
  ): Promise<boolean>;
  /** Gives what an account has; undefined where codes are off. */
  find(accountId: string): Promise<StoredOneTimeCodes | undefined>;
  /** Takes the code of a time step; false where one of it or of a later one was taken (RFC 6238 section 5.2). */
  useStep(accountId: string, step: number): Promise<boolean>;
  /** Takes a recovery code by its hash; false where it was taken or never was. */
  useRecoveryCode(accountId: string, id: string): Promise<boolean>;
  /** Puts new recovery codes in the place of what is left of the old ones; false where codes are off. */
  replaceRecoveryCodes(accountId: string, recoveryIds: readonly string[]): Promise<boolean>;
  /** Turns codes off; false where they are off. */
  disable(accountId: string): Promise<boolean>;
}
