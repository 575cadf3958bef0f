/** Options of the pings to a process or session. */
interface HeartbeatOptions {
  /** Milliseconds of silence until a ping is sent; 0 disables pings. */
  everyMs: number;
  /** `isAnswered` is true once a ping was answered. A backend that ignores pings is never considered dead. */
  known: { isAnswered: boolean };
  /** Returns true if a running request may keep the backend from answering. */
  isBusy(): boolean;
  ping(): void;
  /** Called once, when too many pings were missed. */
  dead(): void;
  nowMs: () => number;
}

/** Missed intervals after a ping until the backend is dead. One interval may be that of a machine that slept. */
const maxMissed = 2;

/**
 * Minimum age of an unanswered ping that still counts when a call is sent, in milliseconds: the call may block a
 * single-threaded program.
 */
const aheadMs = 1000;

/**
 * Pings a silent process or session. Every message is a sign of life, an error too. While a call runs no ping is sent:
 * a program with one thread cannot answer then, and the time limit of the call applies.
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

  /** Starts for a new process or session. */
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

  /** Takes note of a message. */
  heard(): void {
    this.#hasHeard = true;
    this.#pingedAtMs = undefined;
    this.#missed = 0;
  }

  /** Takes note of the response to a ping, an error too. */
  answered(): void {
    this.#options.known.isAnswered = true;
    this.heard();
  }

  /** Takes note that a call is sent: a ping just before it proves nothing any more. */
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
