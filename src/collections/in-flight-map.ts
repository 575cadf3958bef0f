/** Fewest entries that have gone before the map is made anew. */
const fewestGone = 4;

/**
 * A map whose entries come and go with every request. V8 moves a `Map` to a new table again and again while entries are
 * deleted, and each old table points to the next: once one of them has become old, all that come after it, with the
 * requests that stand in them, outlive every small collection and fill the memory until all of it is searched. Here a
 * deleted entry gives up its value, and after some of them the entries that are left move into a new `Map`, which
 * nothing old points to.
 *
 * It gives its entries in the order in which their keys came first; a key that was deleted and comes again may take its
 * old place.
 */
export class InFlightMap<Key, Value extends object | string | number | true> {
  #entries = new Map<Key, Value | undefined>();
  #size = 0;

  /** How many entries there are. */
  get size(): number {
    return this.#size;
  }

  /** Gives what stands under a key. */
  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Says whether something stands under a key. */
  has(key: Key): boolean {
    return this.#entries.get(key) !== undefined;
  }

  /** Puts something under a key, in the place of what stood there. */
  set(key: Key, value: Value): void {
    if (this.#entries.get(key) === undefined) this.#size++;
    this.#entries.set(key, value);
  }

  /** Deletes what stands under a key. @returns whether something stood there */
  delete(key: Key): boolean {
    if (this.#entries.get(key) === undefined) return false;
    this.#entries.set(key, undefined);
    this.#size--;
    if (this.#entries.size - this.#size >= fewestGone + 2 * this.#size) this.#entries = this.#present();
    return true;
  }

  /** Deletes everything. */
  clear(): void {
    this.#entries = new Map();
    this.#size = 0;
  }

  /** Gives the keys there are at this moment. */
  keys(): Key[] {
    return [...this.#present().keys()];
  }

  /** Gives the values there are at this moment. */
  values(): Value[] {
    return [...this.#present().values()];
  }

  #present(): Map<Key, Value> {
    const present = new Map<Key, Value>();
    for (const [key, value] of this.#entries) if (value !== undefined) present.set(key, value);
    return present;
  }
}
