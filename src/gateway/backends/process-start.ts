import type { JsonRpcError } from '../../mcp/protocol.ts';
import type { StdioProcess } from './stdio-process.ts';

/** Hears what becomes of a start, for as long as it is not over. */
export interface StartListener {
  /** There is a process; whether it answers has yet to be seen. */
  launched(process: StdioProcess): void;
  /** This account gets none. */
  refused(error: JsonRpcError): void;
  /** It could not be launched. */
  failed(): void;
}

/**
 * One start of a process, until it is ready or not wanted any more. After that nothing is heard of it: what was to
 * happen meanwhile does not, and a process that is launched too late is ended.
 */
export class ProcessStart {
  readonly #timers: NodeJS.Timeout[] = [];
  #isOver = false;

  /** Launches at once. @param launch gives a process; or says why there is none */
  constructor(launch: () => Promise<StdioProcess | { error: JsonRpcError }>, listener: StartListener) {
    launch().then(
      (launched) => {
        if ('error' in launched) {
          if (!this.#isOver) listener.refused(launched.error);
        } else if (this.#isOver) void launched.end();
        else listener.launched(launched);
      },
      () => {
        if (!this.#isOver) listener.failed();
      },
    );
  }

  /** Has something happen after some milliseconds, unless it is over by then. */
  after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms).unref());
  }

  /** It is ready, or nobody wants it any more. */
  over(): void {
    this.#isOver = true;
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }
}
