/** The owner of an object that a backend keeps, such as a task. */
export interface BackendObject {
  /** Digest of route, kind and the id that the backend gave the object. */
  key: string;
  route: string;
  /** Account and client, see `principalKey`. */
  principal: string;
  clientId: string;
  /** Stored name of the grant by which the object was made; absent for a client that acts for itself. */
  grantId?: string | undefined;
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds. */
  expiresAt: number;
}

/**
 * Outcome of {@link BackendObjectStore.add}.
 * - `taken`: another principal owns the object, and it has not expired.
 * - `full`: the principal owns as many objects of the route as it may.
 * - `ended`: the grant has ended.
 */
export type AddedObject = 'added' | 'taken' | 'full' | 'ended';

/** Owners of the objects that backends keep. A row is removed with its grant, and with a client that acts for itself. */
export interface BackendObjectStore {
  /** Stores an owner. The same owner may be stored again, with another expiry. */
  add(object: BackendObject, maxPerPrincipal: number): Promise<AddedObject>;
  /** Returns those of the keys that the principal owns, without expired ones. */
  filterOwned(keys: readonly string[], principal: string, nowSeconds: number): Promise<string[]>;
  /** Returns those of the keys that are stored, whoever owns them. */
  filterPresent(keys: readonly string[]): Promise<string[]>;
  /** Returns a mark: as long as it stays the same, no row was removed, by whichever process. */
  removalMark(): Promise<number>;
  remove(key: string): Promise<void>;
}
