import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Passing } from './step.ts';

/** Options for the passage of a request. */
export type Guidance = Pick<Passing, 'caller' | 'era' | 'behind' | 'ask'>;

/** A request on its way through the steps. */
export class SteppedRequest implements Passing {
  readonly caller: AuthInfo | undefined;
  readonly era: Passing['era'];
  readonly behind: object;
  readonly ask: Passing['ask'];
  #cancelling: AbortController | undefined;
  #isCancelled = false;
  #tell: (() => void) | undefined;

  constructor({ caller, era, behind, ask }: Guidance) {
    this.caller = caller;
    this.era = era;
    this.behind = behind;
    this.ask = ask;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Made when a step looks at it, which for most requests none does. */
  get signal(): AbortSignal {
    if (!this.#cancelling) {
      this.#cancelling = new AbortController();
      if (this.#isCancelled) this.#cancelling.abort();
    }
    return this.#cancelling.signal;
  }

  onProgress(tell: () => void): void {
    this.#tell = tell;
  }

  /** The server shows that it works on the request. */
  progress(): void {
    this.#tell?.();
  }

  /** Nobody waits for its answer any more. */
  cancel(): void {
    this.#isCancelled = true;
    this.#cancelling?.abort();
  }
}
