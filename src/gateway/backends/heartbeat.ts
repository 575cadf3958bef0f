/** Options of the pings to a process or session. */
export interface HeartbeatOptions {
  /** Milliseconds of silence until a ping is sent; 0 for never. */
  everyMs: number;
  /** `isAnswered` is true once a ping was answered. A backend that ignores pings is not judged by them. */
  known: { isAnswered: boolean };
  /** Returns true if it has something to do that may keep it from answering. */
  isBusy(): boolean;
  ping(): void;
  /** Called once, when pings were missed. */
  dead(): void;
  nowMs: () => number;
}

/** Missed intervals after a ping until the other side counts as dead: one may be that of a machine that slept. */
const maxMissed = 2;

/** Milliseconds that a ping must have had to reach a single-threaded program before a call that may block it. */
const aheadMs = 1000;

/**
 * Pings to a process or session that says nothing. Anything it says is a sign of life, an error among it. While it works on
 * a call no ping is sent: a program with one thread answers nothing then, and the time limit of the call counts.
 * @see MCP 2025-11-25 "Ping" (FA-39)
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #pingedAtMs: number | undefined;
  #hasHeard = false;
  #missed = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Begins with a new process or session. */
  start(): void {
    this.stop();
    const { everyMs, known } = this.#options;
    if (everyMs === 0) return;
    this.#timer = setInterval(() => this.#look(), everyMs).unref();
    if (!known.isAnswered) this.#ping();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.heard();
  }

  /** Takes note of anything that was said. */
  heard(): void {
    this.#hasHeard = true;
    this.#pingedAtMs = undefined;
    this.#missed = 0;
  }

  /** Takes note of the answer to a ping, even if it is an error. */
  answered(): void {
    this.#options.known.isAnswered = true;
    this.heard();
  }

  /** A call is sent: a ping just before it says nothing of the other side any more. */
  asked(): void {
    const isFresh = this.#pingedAtMs !== undefined && this.#options.nowMs() - this.#pingedAtMs < aheadMs;
    if (isFresh) this.heard();
  }

  #look(): void {
    const { known, isBusy, dead } = this.#options;
    const hasHeard = this.#hasHeard;
    this.#hasHeard = false;
    if (hasHeard) return;
    if (this.#pingedAtMs === undefined) {
      if (!isBusy()) this.#ping();
    } else if (known.isAnswered && ++this.#missed >= maxMissed) {
      this.stop();
      dead();
    }
  }

  #ping(): void {
    this.#pingedAtMs = this.#options.nowMs();
    this.#options.ping();
  }
}
