/** When a circuit opens, and for how long. */
export interface CircuitLimits {
  /** So many failures in a row open it. */
  failures: number;
  /** A failure counts for this long, in milliseconds. */
  windowMs: number;
  /** How long nothing is tried, in milliseconds. */
  openMs: number;
}

/**
 * A circuit breaker between calls and a server that fails: after failures in a row nothing is tried for a while, then one
 * call. Not a library such as `cockatiel` or `opossum`: theirs open by the number of failures alone, and this circuit opens
 * only by failures of several accounts, so that one account cannot shut out the others (T-158).
 */
export class Circuit {
  readonly #limits: CircuitLimits;
  readonly #minAccounts: number;
  readonly #nowMs: () => number;
  /** Failures since the last success: when, and whose. */
  #failures: { atMs: number; account: string }[] = [];
  #openUntilMs: number | undefined;
  /** When the call was let through that tries. */
  #triedAtMs: number | undefined;

  /** @param minAccounts the failures that open it are of so many accounts at least, and no account has more than its share */
  constructor(limits: CircuitLimits, minAccounts: number, nowMs: () => number) {
    this.#limits = limits;
    this.#minAccounts = minAccounts;
    this.#nowMs = nowMs;
  }

  get isOpen(): boolean {
    return this.#openUntilMs !== undefined;
  }

  /** Whether it knows of nothing: it is closed, and no failure counts. */
  get isIdle(): boolean {
    return !this.isOpen && !this.#failures.some(({ atMs }) => this.#counts(atMs));
  }

  /**
   * Lets a call through or not. Who is let through says how it went, by `succeeded`, `failed` or `gaveUp`.
   * @returns how long to wait otherwise, in milliseconds
   */
  enter(): number {
    if (this.#openUntilMs === undefined) return 0;
    const waitMs = this.#openUntilMs - this.#nowMs();
    if (waitMs > 0) return waitMs;
    // Who tries may take long: others do not wait for them for longer than before.
    if (this.#triedAtMs !== undefined && this.#triedAtMs > this.#nowMs() - this.#limits.openMs)
      return trialMs;
    this.#triedAtMs = this.#nowMs();
    return 0;
  }

  /** @returns whether it was open until now */
  succeeded(): boolean {
    const wasOpen = this.isOpen;
    this.#failures = [];
    this.#openUntilMs = undefined;
    this.#triedAtMs = undefined;
    return wasOpen;
  }

  /**
   * @param account whose call failed
   * @returns whether it was closed until now and is open
   */
  failed(account: string): boolean {
    const { failures, openMs } = this.#limits;
    const wasOpen = this.isOpen;
    this.#triedAtMs = undefined;
    const counting = this.#failures.filter(({ atMs }) => this.#counts(atMs));
    const own = counting.filter((failure) => failure.account === account);
    const beyond = own.length >= Math.ceil(failures / this.#minAccounts) ? own[0] : undefined;
    this.#failures = [...counting.filter((failure) => failure !== beyond), { atMs: this.#nowMs(), account }];
    const accounts = new Set(this.#failures.map((failure) => failure.account)).size;
    const opens = wasOpen || (this.#failures.length >= failures && accounts >= this.#minAccounts);
    if (opens) this.#openUntilMs = this.#nowMs() + openMs;
    return opens && !wasOpen;
  }

  /** The call that was let through came to no end. */
  gaveUp(): void {
    this.#triedAtMs = undefined;
  }

  #counts(atMs: number): boolean {
    return atMs > this.#nowMs() - this.#limits.windowMs;
  }
}

/** How long to wait while another call tries, in milliseconds. */
const trialMs = 1000;
