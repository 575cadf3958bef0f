import { randomBytes } from 'node:crypto';

/** A call that waits for its client to come back with input. */
export interface Parkable {
  /** Nobody came back for it. */
  cancel(): void;
}

interface Parked<Call> {
  call: Call;
  principal: string;
  timer: NodeJS.Timeout;
  unwatch: () => void;
}

/** Milliseconds that a call waits for its client; as long as its request state lasts. */
const waitMs = 600_000;

/** Calls that wait in memory, each under a name nobody can guess. */
export class ParkedCalls<Call extends Parkable> {
  readonly #parked = new Map<string, Parked<Call>>();
  readonly #counts = new Map<string, number>();
  readonly #maxPerPrincipal: number;

  constructor(maxPerPrincipal: number) {
    this.#maxPerPrincipal = maxPerPrincipal;
  }

  /**
   * Lets a call wait.
   * @param principal see `principalKey`
   * @param watch calls back when the access of the caller is revoked, which cancels the call; returns what stops it
   * @returns its name; undefined if too many calls of the principal wait
   */
  park(call: Call, principal: string, watch?: (revoked: () => void) => () => void): string | undefined {
    const count = this.#counts.get(principal) ?? 0;
    if (count >= this.#maxPerPrincipal) return undefined;
    const name = randomBytes(16).toString('base64url');
    const giveUp = (): void => this.take(name, principal)?.cancel();
    const timer = setTimeout(giveUp, waitMs).unref();
    this.#parked.set(name, { call, principal, timer, unwatch: watch?.(giveUp) ?? (() => undefined) });
    this.#counts.set(principal, count + 1);
    return name;
  }

  /** Returns a call back to the principal it belongs to, once. */
  take(name: string, principal: string): Call | undefined {
    const parked = this.#parked.get(name);
    if (parked?.principal !== principal) return undefined;
    this.#parked.delete(name);
    clearTimeout(parked.timer);
    parked.unwatch();
    const left = (this.#counts.get(principal) ?? 0) - 1;
    if (left > 0) this.#counts.set(principal, left);
    else this.#counts.delete(principal);
    return parked.call;
  }

  /** Cancels all that wait. */
  cancelAll(): void {
    for (const [name, { principal }] of this.#parked) this.take(name, principal)?.cancel();
  }
}
