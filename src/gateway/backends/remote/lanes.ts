import { InFlightMap } from '../../../collections/in-flight-map.ts';

/** How much may be under way at once. */
export interface LaneLimits {
  total: number;
  perAccount: number;
  /** Most that may wait for a lane, of an account. */
  waitingPerAccount: number;
}

interface AccountLanes {
  taken: number;
  waiting: (() => void)[];
}

/**
 * Bounds what is under way to a backend at once, for an account and for all, so that nobody's calls keep out others
 * (T-158). What finds no lane waits for one, as far as that is allowed; accounts that wait are served in turn.
 */
export class Lanes {
  readonly #limits: LaneLimits;
  readonly #accounts = new InFlightMap<string, AccountLanes>();
  /** Those with something that waits though they may have another lane, in turn. */
  readonly #turns = new Set<string>();
  #taken = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  /** How many are taken. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes a lane, now or when one is free.
   * @param go called once the lane is taken, at once where one is free; its holder calls {@link leave} when done
   * @returns false where too many wait already: `go` is never called
   */
  enter(account: string, go: () => void): boolean {
    const lanes = this.#accounts.get(account) ?? { taken: 0, waiting: [] };
    this.#accounts.set(account, lanes);
    if (this.#taken < this.#limits.total && lanes.taken < this.#limits.perAccount) {
      this.#take(lanes);
      go();
      return true;
    }
    if (lanes.waiting.length >= this.#limits.waitingPerAccount) return false;
    lanes.waiting.push(go);
    if (lanes.taken < this.#limits.perAccount) this.#turns.add(account);
    return true;
  }

  /** Takes a lane where one is free. @returns whether it is taken */
  tryEnter(account: string): boolean {
    const taken = this.#accounts.get(account)?.taken ?? 0;
    if (this.#taken >= this.#limits.total || taken >= this.#limits.perAccount) return false;
    return this.enter(account, () => undefined);
  }

  /** Gives a lane back; who waits longest takes it. */
  leave(account: string): void {
    const lanes = this.#accounts.get(account);
    if (!lanes) return;
    this.#taken--;
    lanes.taken--;
    if (lanes.waiting.length > 0) this.#turns.add(account);
    else if (lanes.taken === 0) this.#accounts.delete(account);
    this.#next();
  }

  #take(lanes: AccountLanes): void {
    this.#taken++;
    lanes.taken++;
  }

  #next(): void {
    for (const account of this.#turns) {
      if (this.#taken >= this.#limits.total) return;
      this.#turns.delete(account);
      const lanes = this.#accounts.get(account);
      const go = lanes && lanes.taken < this.#limits.perAccount ? lanes.waiting.shift() : undefined;
      if (!lanes || !go) continue;
      this.#take(lanes);
      if (lanes.waiting.length > 0 && lanes.taken < this.#limits.perAccount) this.#turns.add(account);
      go();
    }
  }
}
