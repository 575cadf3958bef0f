import { hash } from 'node:crypto';

/** Most accounts remembered; of one beyond it is taken that it was given something. */
const defaultMaxAccounts = 10_000;

/** Hashes of the values passed to backends, by account: a change of a value that no backend got ends nothing. */
export class GivenValues {
  readonly #given = new Map<string, Set<string>>();
  readonly #maxAccounts: number;
  #hasForgotten = false;

  constructor(maxAccounts = defaultMaxAccounts) {
    this.#maxAccounts = maxAccounts;
  }

  /** Notes that a value was given. */
  note(accountId: string, value: string): void {
    const own = this.#given.get(accountId) ?? new Set();
    own.add(digest(value));
    this.#given.set(accountId, own);
    const [oldest] = this.#given.keys();
    if (this.#given.size <= this.#maxAccounts || oldest === undefined) return;
    this.#given.delete(oldest);
    this.#hasForgotten = true;
  }

  /**
   * Returns true if anything was given that holds no more; what was given is forgotten then, because it ends.
   * @param value the one that holds now; undefined if there is none
   */
  hasOutdated(accountId: string, value: string | undefined): boolean {
    const own = this.#given.get(accountId);
    if (!own) return this.#hasForgotten;
    const current = value === undefined ? undefined : digest(value);
    if ([...own].every((given) => given === current)) return false;
    this.#given.delete(accountId);
    return true;
  }
}

function digest(value: string): string {
  return hash('sha256', value, 'base64url');
}
