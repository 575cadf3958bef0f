/** Minimum number of deleted entries before the map is rebuilt. */
const fewestGone = 4;

/**
 * A map whose entries come and go with every request. V8 moves a `Map` to a new table again and again while entries are
 * deleted, and each old table refers to the next: once one of them is in the old generation, all later tables, with
 * their requests, survive every minor collection and fill the memory until a full one. Here a deleted entry drops its
 * value, and after some deletions the remaining entries move into a new `Map`, to which nothing old refers. Most of
 * these maps have one entry at a time, or none: a single entry is kept outside the table, which saves a lookup in cold
 * memory. Keys are compared by `===`. Entries are returned in the order in which their keys were first set; a key that
 * is set again after its deletion may take its old position.
 */
export class InFlightMap<Key, Value extends object | string | number | true> {
  /** Key of the single entry; its value is undefined if there is a table, or no entry. */
  #onlyKey: Key | undefined;
  #only: Value | undefined;
  #table: Map<Key, Value | undefined> | undefined;
  #size = 0;

  /** Number of entries. */
  get size(): number {
    return this.#size;
  }

  /** Returns the value of a key. */
  get(key: Key): Value | undefined {
    if (this.#table) return this.#table.get(key);
    return this.#onlyKey === key ? this.#only : undefined;
  }

  /** Returns whether a key has a value. */
  has(key: Key): boolean {
    return this.get(key) !== undefined;
  }

  /** Sets the value of a key. */
  set(key: Key, value: Value): void {
    if (this.get(key) === undefined) this.#size++;
    if (this.#table) this.#table.set(key, value);
    else if (this.#only === undefined || this.#onlyKey === key) {
      this.#onlyKey = key;
      this.#only = value;
    } else {
      this.#table = new Map<Key, Value | undefined>([
        [this.#onlyKey as Key, this.#only],
        [key, value],
      ]);
      this.#forgetOnly();
    }
  }

  /**
   * Deletes a key.
   * @returns whether it had a value
   */
  delete(key: Key): boolean {
    if (this.get(key) === undefined) return false;
    this.#size--;
    if (!this.#table) this.#forgetOnly();
    else if (this.#size === 0) this.#table = undefined;
    else {
      this.#table.set(key, undefined);
      if (this.#table.size - this.#size >= fewestGone + 2 * this.#size) this.#table = this.#present();
    }
    return true;
  }

  /** Deletes all entries. */
  clear(): void {
    this.#table = undefined;
    this.#forgetOnly();
    this.#size = 0;
  }

  /** Returns the present keys. */
  keys(): Key[] {
    return [...this.#present().keys()];
  }

  /** Returns the present values. */
  values(): Value[] {
    return [...this.#present().values()];
  }

  #present(): Map<Key, Value> {
    const present = new Map<Key, Value>();
    if (this.#only !== undefined) present.set(this.#onlyKey as Key, this.#only);
    for (const [key, value] of this.#table ?? []) if (value !== undefined) present.set(key, value);
    return present;
  }

  #forgetOnly(): void {
    this.#onlyKey = undefined;
    this.#only = undefined;
  }
}
