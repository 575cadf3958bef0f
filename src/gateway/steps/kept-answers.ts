/** An answer that is kept. */
export interface KeptAnswer {
  method: string;
  /** Of the resource that was read. */
  uri?: unknown;
  /** Owner; absent if it is for everybody. */
  account?: string;
  result: Record<string, unknown>;
  /** Expiry, on the clock of the cache. */
  untilMs: number;
}

/** Limits of the cache. */
export interface KeepingLimits {
  maxEntries: number;
  maxBytes: number;
}

/** No answer may take more than this part of the room. */
const largestPart = 10;

/** Answers by their keys, bounded in number and size; what was not used for longest goes first. */
export class KeptAnswers {
  readonly #limits: KeepingLimits;
  readonly #answers = new Map<string, KeptAnswer & { bytes: number }>();
  #bytes = 0;

  constructor(limits: KeepingLimits) {
    this.#limits = limits;
  }

  /** Returns what is kept and good. */
  find(key: string, nowMs: number): KeptAnswer | undefined {
    const kept = this.#answers.get(key);
    if (!kept) return undefined;
    this.#answers.delete(key);
    if (kept.untilMs > nowMs) {
      this.#answers.set(key, kept);
      return kept;
    }
    this.#bytes -= kept.bytes;
    return undefined;
  }

  /** Keeps an answer, unless it is too large. */
  keep(key: string, answer: KeptAnswer): void {
    const { maxEntries, maxBytes } = this.#limits;
    const bytes = Buffer.byteLength(JSON.stringify(answer.result)) + key.length;
    this.#drop(key);
    if (bytes > maxBytes / largestPart) return;
    this.#answers.set(key, { ...answer, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= maxEntries && this.#bytes <= maxBytes) return;
      this.#drop(oldest);
    }
  }

  /** Lets go of what is no longer good. */
  forget(isMeant: (answer: KeptAnswer) => boolean): void {
    for (const [key, answer] of this.#answers) if (isMeant(answer)) this.#drop(key);
  }

  #drop(key: string): void {
    this.#bytes -= this.#answers.get(key)?.bytes ?? 0;
    this.#answers.delete(key);
  }
}
