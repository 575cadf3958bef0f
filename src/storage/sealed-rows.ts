/** What of an installation is sealed, whatever table it stands in: for the change of sealing keys. */
export interface SealedRows {
  /** Counts what is sealed under each key, by the id of the key. Looks at every row. */
  countByKey(): Promise<Map<string, number>>;
  /**
   * Puts in the place of what is sealed under a key what `reseal` makes of it, in batches that leave room for others.
   * What somebody else writes meanwhile stands; what was removed stays so.
   * @param keyId id of the key that is to be needed no more
   * @param reseal gives the same text sealed anew for its context; undefined where it cannot be opened: it stays then
   */
  reseal(
    keyId: string,
    reseal: (sealed: Uint8Array, context: string) => Uint8Array | undefined,
  ): Promise<void>;
}
