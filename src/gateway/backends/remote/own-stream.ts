import { eventLimits, isEventStream, readEventStream, type StreamPosition } from './event-stream.ts';
import type { LinkParts } from './link.ts';
import type { WireAnswer } from './wire-answer.ts';

/** Parts of the stream of a session. */
export interface OwnStreamOptions {
  parts: LinkParts;
  path: string;
  /** Those of the session. */
  headers: () => readonly string[];
  /** Takes the data of an event. */
  hear(data: Buffer): void;
  /** The server says that there is no such session any more. */
  sessionGone(): void;
  /** Called whenever it is known whether the stream is open. */
  settled(): void;
}

const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

/**
 * The stream of a session on which the server says what belongs to no request. Servers need not have one. It is opened
 * again behind the last event wherever it ends, ever more rarely while nothing comes.
 * @see MCP 2025-11-25 transports "Listening for Messages from the Server" (B3-07, B3-09, B4-03)
 */
export class OwnStream {
  readonly #options: OwnStreamOptions;
  readonly #position: StreamPosition = {};
  #stop: (() => void) | undefined;
  #waitMs = firstWaitMs;
  #wasOpen = false;
  #hasPlace = false;
  #isClosed = false;

  /** Opens it. If too many are open already, the session works without it. */
  constructor(options: OwnStreamOptions) {
    this.#options = options;
    const { streams, account } = options.parts;
    this.#hasPlace = streams.tryEnter([account]);
    if (this.#hasPlace) this.#open();
    else {
      options.parts.noteFailure({ reason: 'backend_busy', full: 'streams' });
      options.settled();
    }
  }

  /** Ends it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#hasPlace) this.#options.parts.streams.leave([this.#options.parts.account]);
    this.#stop?.();
  }

  #open(): void {
    const { parts, path, headers } = this.#options;
    const { lastEventId } = this.#position;
    const behind = lastEventId === undefined ? [] : ['last-event-id', lastEventId];
    this.#stop = parts.wire.send(
      { method: 'GET', path, headers: [...headers(), ...behind] },
      {
        head: (answer) => {
          this.#head(answer);
          this.#options.settled();
        },
        failed: () => {
          this.#again();
          this.#options.settled();
        },
      },
    );
  }

  #head(answer: WireAnswer): void {
    const { status } = answer;
    if (status === 200 && isEventStream(answer)) {
      this.#wasOpen = true;
      this.#stop = readEventStream(answer, eventLimits(this.#options.parts), this.#position, {
        event: ({ type, data }) => {
          this.#waitMs = firstWaitMs;
          if (type === 'message') this.#options.hear(data);
        },
        ended: () => this.#again(),
      });
      return;
    }
    answer.drop();
    // Some answer 404 to every GET: it is about the session only where a stream of it was open.
    if ((status === 404 || status === 410) && this.#wasOpen) {
      this.close();
      this.#options.sessionGone();
    } else if (status >= 500 || status === 429) this.#again();
    else this.close();
  }

  #again(): void {
    if (this.#isClosed) return;
    const { retryMs } = this.#position;
    const asked = Math.min(retryMs ?? firstWaitMs, longestWaitMs);
    const waitMs = this.#waitMs === firstWaitMs ? asked : Math.max(asked, this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
    const timer = setTimeout(() => this.#open(), waitMs).unref();
    this.#stop = () => clearTimeout(timer);
  }
}
