/** Fewest entries that have gone before the map is made anew. */
const fewestGone = 4;

/**
 * A map whose entries come and go with every request. V8 moves a `Map` to a new table again and again while entries are
 * deleted, and each old table points to the next: once one of them has become old, all that come after it, with the
 * requests that stand in them, outlive every small collection and fill the memory until all of it is searched. Here a
 * deleted entry gives up its value, and after some of them the entries that are left move into a new `Map`, which
 * nothing old points to.
 *
 * Most of these maps have one entry at a time, or none: one that comes alone stands beside the table, of which there is
 * none then. To look into a table for it would cost a call more, as nobody has touched that since the one before.
 *
 * Keys are told apart by `===`. It gives its entries in the order in which their keys came first; a key that was
 * deleted and comes again may take its old place.
 */
export class InFlightMap<Key, Value extends object | string | number | true> {
  /** The entry that is alone; its value is undefined if there is a table, or nothing at all. */
  #onlyKey: Key | undefined;
  #only: Value | undefined;
  #table: Map<Key, Value | undefined> | undefined;
  #size = 0;

  /** How many entries there are. */
  get size(): number {
    return this.#size;
  }

  /** Returns what stands under a key. */
  get(key: Key): Value | undefined {
    if (this.#table) return this.#table.get(key);
    return this.#onlyKey === key ? this.#only : undefined;
  }

  /** Returns whether something stands under a key. */
  has(key: Key): boolean {
    return this.get(key) !== undefined;
  }

  /** Puts something under a key, in the place of what stood there. */
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

  /** Deletes what stands under a key. @returns whether something stood there */
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

  /** Deletes everything. */
  clear(): void {
    this.#table = undefined;
    this.#forgetOnly();
    this.#size = 0;
  }

  /** Returns the keys there are at this moment. */
  keys(): Key[] {
    return [...this.#present().keys()];
  }

  /** Returns the values there are at this moment. */
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
