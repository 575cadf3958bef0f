/** Which credential of an account: the route it is for, and its name there. */
export interface BackendCredentialKey {
  accountId: string;
  route: string;
  name: string;
}

/** What somebody entered for a backend, without its value. */
export interface EnteredCredential extends BackendCredentialKey {
  /** Epoch seconds. */
  enteredAt: number;
}

/** Whose credential for which route changed or went. */
export interface BackendCredentialChange {
  /** Later changes have larger ones. */
  position: number;
  accountId: string;
  route: string;
}

/** How long changes are remembered, in seconds: every process on the database looks much more often. */
export const credentialChangeKeptSeconds = 3_600;

/**
 * What the value of a credential is sealed for by whoever writes it: nobody else's row, and no other route or name, takes
 * it.
 */
export function credentialContext(accountId: string, route: string, name: string): string {
  return JSON.stringify(['BackendCredential', accountId, route, name]);
}

/** What people entered for MCP servers behind the gate. It goes with their account. */
export interface BackendCredentialStore {
  /**
   * Keeps a value in the place of one that is there.
   * @param value sealed for {@link credentialContext}
   * @returns false where there is no such account
   */
  put(key: BackendCredentialKey, value: Uint8Array, nowSeconds: number): Promise<boolean>;
  /** Gives a sealed value; undefined where nothing was entered. */
  find(key: BackendCredentialKey): Promise<Uint8Array | undefined>;
  /** Gives what an account has entered, by route and name. */
  listOf(accountId: string): Promise<EnteredCredential[]>;
  /** Removes one; false where nothing was entered. */
  remove(key: BackendCredentialKey): Promise<boolean>;
  /** Gives the position of the last change there was. */
  lastChange(): Promise<number>;
  /** Gives the changes after a position in their order, at most `limit`, by whichever process. */
  changesAfter(position: number, limit: number): Promise<BackendCredentialChange[]>;
}
