/** What was decided after the backup, and holds again: or does not, and has to be decided anew. */
export interface CarriedOver {
  /** Ids of clients that were denied or removed since, and are again. */
  refusedClients: string[];
  /** E-mail addresses of accounts that were disabled since, and are again. */
  disabledAccounts: string[];
  /** How many clients have the registration access token of now, not that of then. */
  renewedTokens: number;
  /** E-mail addresses of accounts that are back, though the database that was replaced did not have them. */
  returnedAccounts: string[];
  /** E-mail addresses of accounts whose password is an older one again. */
  olderPasswords: string[];
}
