import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../observability/logger.ts';
import { uniqueId } from '../sdk/unique-id.ts';
import type { MissingInput } from './missing-input.ts';

/** Most things one conversation waits for; the oldest is not waited for any more beyond. */
const maxWatched = 20;

/** Maximum time for linking, in milliseconds. */
const watchedMs = 600_000;

/** Interval of the checks whether the account is linked, in milliseconds: another process may have linked it. */
const defaultLookEveryMs = 1_000;

/** Input that one conversation waits for. */
export class LinkWatch {
  readonly #tell: (elicitationId: string) => void;
  readonly #logger: Logger;
  readonly #lookEveryMs: number;
  /** The ids of elicitations and what ends their watch, by what is missing. */
  readonly #open = new Map<string, { elicitationId: string; stop: AbortController }>();

  /** @param tell takes the id of an elicitation that has come to its end */
  constructor(tell: (elicitationId: string) => void, logger: Logger, lookEveryMs = defaultLookEveryMs) {
    this.#tell = tell;
    this.#logger = logger;
    this.#lookEveryMs = lookEveryMs;
  }

  /** Waits for something. @returns the id of the elicitation that asks for it: the same one as long as it is missing */
  begin({ key, isGiven }: Pick<MissingInput, 'key' | 'isGiven'>): string {
    const open = this.#open.get(key);
    if (open) return open.elicitationId;
    const [oldest] = this.#open.keys();
    if (this.#open.size >= maxWatched && oldest !== undefined) this.#end(oldest);
    const begun = { elicitationId: uniqueId(), stop: new AbortController() };
    this.#open.set(key, begun);
    this.#watch(isGiven, begun.stop.signal)
      .then((wasGiven) => {
        if (begun.stop.signal.aborted) return;
        this.#end(key);
        if (wasGiven) this.#tell(begun.elicitationId);
      })
      .catch((error: unknown) => {
        this.#end(key);
        this.#logger.warn({ err: error }, 'a client is not told that its person has given what was missing');
      });
    return begun.elicitationId;
  }

  /** Waits for nothing any more. */
  endAll(): void {
    for (const key of [...this.#open.keys()]) this.#end(key);
  }

  async #watch(isGiven: () => Promise<boolean>, stopped: AbortSignal): Promise<boolean> {
    const endsMs = performance.now() + watchedMs;
    while (performance.now() < endsMs && !stopped.aborted) {
      await sleep(this.#lookEveryMs, undefined, { ref: false, signal: stopped }).catch(() => undefined);
      if (!stopped.aborted && (await isGiven())) return true;
    }
    return false;
  }

  #end(key: string): void {
    this.#open.get(key)?.stop.abort();
    this.#open.delete(key);
  }
}
