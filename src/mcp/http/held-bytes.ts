/** Limits of the bytes held for clients that have not read them. */
export interface HeldBytesLimits {
  /** For one account, whatever its clients. */
  perAccount: number;
  /** For all of them. */
  total: number;
  /** Seconds that a client may read nothing while others need the room. */
  patienceSeconds: number;
}

/** Owner of held bytes. */
export interface Owner {
  /** See `accountKeyPrefix`; empty if it is not known whose they are, such as on the pipe of a shared program. */
  account: string;
  /** Client id, for the log. */
  client: string;
}

/**
 * Reason that a client does not get an answer.
 * - `slow`: it took nothing for too long, and others needed the room.
 * - `no_room`: there was no room for the answer.
 * - `stalled`: it took nothing for a whole period of keep-alive.
 * - `left`: it closed the connection before it had taken the answer.
 */
export type Loss = 'slow' | 'no_room' | 'stalled' | 'left';

/** An answer, or part of one, that its client does not get. */
export interface LostBytes {
  loss: Loss;
  client: string;
  bytes: number;
}

/** Bytes that wait for one client. */
export interface OutgoingBytes {
  /**
   * Sets the number of waiting bytes.
   * @returns whether there is room for them; if not, nothing has changed
   */
  set(bytes: number): boolean;
  /** The client has taken something. */
  progress(): void;
  /** Nothing waits any more. @param loss why the client did not take it, if it did not */
  end(loss?: Loss): void;
}

/** Bytes of one answer that is being read from a backend. */
export interface IncomingBytes {
  /** The answer will have so many bytes: waits until there is room for all of them. */
  expect(bytes: number): void;
  /** Sets the number of received bytes. If there is no room for more, the backend has to pause. */
  set(bytes: number): void;
  /** Nothing is kept of it any more: it was handed on, or dropped. */
  end(): void;
}

/** Controls of the reading of a response. */
export interface Reading {
  /** Reads nothing more until there is room. */
  pause(): void;
  resume(): void;
  /** There was no room in time. */
  giveUp(): void;
}

/** Bytes up to which a response never waits: calls with small responses continue whatever the others do. */
export const smallBytes = 64 * 1024;

/**
 * The patience, in turns of the timer. Time is counted in turns because a busy process cannot see that a client takes
 * something: however long the event loop was blocked, that is one turn.
 */
const patienceTurns = 10;

/** Bytes that are read from backends, and bytes that wait for clients. */
interface Sum {
  incoming: number;
  outgoing: number;
}

interface Reader {
  owner: Owner;
  bytes: number;
  /** The turn in which the client last took something. */
  turn: number;
  cut(): void;
}

interface Waiter {
  account: string;
  reading: Reading;
  /** Additional bytes that it needs before it continues. */
  needs: number;
  /** The turn in which it began to wait. */
  since: number;
  /** True if it goes on without room: it was given up, or everything else waits for it. */
  isExempt: boolean;
  /** The waiter may continue. */
  goOn(): void;
}

/** The budget without room. */
interface Full {
  account: boolean;
  total: boolean;
}

/** Default limits of an installation. A machine with 1 GB survives them. */
const defaultHeldBytes: HeldBytesLimits = {
  perAccount: 64_000_000,
  total: 128_000_000,
  patienceSeconds: 10,
};

/**
 * The budget of bytes that are held for clients, in total and for each account (T-205). Without room, backends are not
 * read for now; the client that has taken nothing for longest is cut off after the patience; an answer that finds no room
 * in time is refused. Bytes that a program in this process has made cannot wait: without room they are refused at once.
 */
export class HeldBytes {
  readonly #limits: HeldBytesLimits;
  readonly #onLost: (lost: LostBytes) => void;
  readonly #all: Sum = { incoming: 0, outgoing: 0 };
  readonly #accounts = new Map<string, Sum>();
  /** Those for whom bytes wait. */
  readonly #readers = new Set<Reader>();
  /** Readings without room, the longest waiting first. */
  readonly #waiting = new Set<Waiter>();
  /** The one that goes on without room, because only readings fill it: otherwise all would wait for each other. */
  #beyond: Waiter | undefined;
  /** Runs while anything is counted as waiting. */
  #timer: NodeJS.Timeout | undefined;
  #turn = 0;
  #isSettling = false;

  /** @param onLost takes note of each answer that a client does not get */
  constructor(
    limits: HeldBytesLimits = defaultHeldBytes,
    onLost: (lost: LostBytes) => void = () => undefined,
  ) {
    this.#limits = limits;
    this.#onLost = onLost;
  }

  /** All that is held. */
  get bytes(): number {
    return this.#all.incoming + this.#all.outgoing;
  }

  /** Bytes waiting for clients. */
  get outgoingBytes(): number {
    return this.#all.outgoing;
  }

  /**
   * Returns true if so many bytes more may wait for clients of an account. Cuts off those that have taken nothing for
   * too long, if that makes room.
   */
  hasRoom(account: string, bytes: number): boolean {
    for (;;) {
      const full = this.#fullFor(account, bytes, ({ outgoing }) => outgoing);
      if (!full.account && !full.total) return true;
      if (!this.#cutSlowest(account, full)) return false;
    }
  }

  /**
   * Counts bytes that wait for something else than their client, such as the other answers of a batch.
   * @returns ends that; undefined if there is no room for them
   */
  park(account: string, bytes: number): (() => void) | undefined {
    if (!this.hasRoom(account, bytes)) return undefined;
    this.#add(account, 'outgoing', bytes);
    let parked = bytes;
    return () => {
      this.#add(account, 'outgoing', -parked);
      parked = 0;
      this.#settleSoon();
    };
  }

  /** Takes note of an answer that its client does not get, and that was not counted. */
  lost(lost: LostBytes): void {
    this.#onLost(lost);
  }

  /**
   * Begins to count what waits for a client.
   * @param cut closes its connection
   */
  outgoing(owner: Owner, cut: () => void): OutgoingBytes {
    const reader: Reader = { owner, bytes: 0, turn: 0, cut };
    return {
      set: (bytes) => this.#setOutgoing(reader, bytes),
      progress: () => {
        reader.turn = this.#turn;
      },
      end: (loss) => {
        const { bytes } = reader;
        this.#setOutgoing(reader, 0);
        if (loss && bytes > 0) this.#onLost({ loss, client: owner.client, bytes });
      },
    };
  }

  /**
   * Begins to count what is read from a backend.
   * @param account whose answer it is; empty if others are answered the same way: that is counted, and never waits, as
   *   one slow client would have everybody wait
   */
  incoming(account: string, reading: Reading): IncomingBytes {
    let counted = 0;
    let expected = 0;
    const count = (bytes: number): void => {
      this.#add(account, 'incoming', bytes - counted);
      counted = bytes;
    };
    const waiter: Waiter = {
      account,
      reading,
      needs: 0,
      since: 0,
      isExempt: account === '',
      goOn: () => count(Math.max(counted, expected)),
    };
    return {
      expect: (bytes) => {
        expected = bytes;
        this.#require(waiter, bytes);
      },
      set: (bytes) => {
        if (bytes <= counted) {
          if (expected === 0) count(bytes);
          return;
        }
        count(bytes);
        this.#require(waiter, 0);
      },
      end: () => {
        expected = 0;
        count(0);
        waiter.isExempt = account === '';
        this.#waiting.delete(waiter);
        if (this.#beyond === waiter) this.#beyond = undefined;
        this.#settleSoon();
      },
    };
  }

  #startTimer(): void {
    const turnMs = (this.#limits.patienceSeconds * 1000) / patienceTurns;
    this.#timer ??= setInterval(() => {
      this.#turn++;
      this.#settle();
    }, turnMs).unref();
  }

  #add(account: string, kind: keyof Sum, bytes: number): void {
    if (bytes === 0) return;
    const sum = this.#accounts.get(account) ?? { incoming: 0, outgoing: 0 };
    sum[kind] += bytes;
    this.#all[kind] += bytes;
    if (heldIn(sum) > 0) this.#accounts.set(account, sum);
    else this.#accounts.delete(account);
  }

  #fullFor(account: string, bytes: number, read: (sum: Sum) => number): Full {
    const sum = this.#accounts.get(account);
    const { perAccount, total } = this.#limits;
    return {
      account: account !== '' && (sum ? read(sum) : 0) + bytes > perAccount,
      total: read(this.#all) + bytes > total,
    };
  }

  #setOutgoing(reader: Reader, bytes: number): boolean {
    const more = bytes - reader.bytes;
    const { account } = reader.owner;
    if (more > 0 && !this.hasRoom(account, more)) return false;
    this.#add(account, 'outgoing', more);
    if (reader.bytes === 0) reader.turn = this.#turn;
    reader.bytes = bytes;
    if (bytes > 0) {
      this.#readers.add(reader);
      this.#startTimer();
    } else this.#readers.delete(reader);
    if (more < 0) this.#settleSoon();
    return true;
  }

  /** Closes the connection of the client that has taken nothing for longest. @returns whether there is one to close */
  #cutSlowest(account: string, full: Full): boolean {
    let slowest: Reader | undefined;
    for (const reader of this.#readers) {
      if (full.account && reader.owner.account !== account) continue;
      if (!slowest || reader.turn < slowest.turn) slowest = reader;
    }
    if (!slowest || this.#turn - slowest.turn <= patienceTurns) return false;
    const { owner, bytes } = slowest;
    this.#setOutgoing(slowest, 0);
    this.#onLost({ loss: 'slow', client: owner.client, bytes });
    slowest.cut();
    return true;
  }

  /** Makes a reader wait if there is no room for more bytes. */
  #require(waiter: Waiter, bytes: number): void {
    if (waiter.isExempt || this.#waiting.has(waiter)) return;
    waiter.needs = bytes;
    const full = this.#fullFor(waiter.account, bytes, heldIn);
    if (!full.account && !full.total) {
      waiter.goOn();
      return;
    }
    waiter.since = this.#turn;
    this.#waiting.add(waiter);
    waiter.reading.pause();
    this.#startTimer();
    this.#settleSoon();
  }

  #settleSoon(): void {
    if (this.#isSettling || this.#waiting.size === 0) return;
    this.#isSettling = true;
    setImmediate(() => {
      this.#isSettling = false;
      this.#settle();
    });
  }

  /** Lets those go on that have room now, in their order; makes room if that is due; gives up what has waited for too long. */
  #settle(): void {
    const blocked = new Set<string>();
    for (const waiter of [...this.#waiting]) {
      const { account, reading, since } = waiter;
      if (!blocked.has(account) && this.#findRoom(waiter)) {
        this.#waiting.delete(waiter);
        waiter.goOn();
        reading.resume();
        continue;
      }
      blocked.add(account);
      if (this.#turn - since <= 2 * patienceTurns) continue;
      this.#waiting.delete(waiter);
      waiter.isExempt = true;
      reading.giveUp();
    }
    if (this.#waiting.size + this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #findRoom(waiter: Waiter): boolean {
    const { account, needs } = waiter;
    for (;;) {
      const full = this.#fullFor(account, needs, heldIn);
      if (!full.account && !full.total) return true;
      if (this.#isFilledByReadings(account, full)) return this.#goBeyond(waiter);
      if (!this.#cutSlowest(account, full)) return false;
    }
  }

  #isFilledByReadings(account: string, full: Full): boolean {
    const outgoing = this.#accounts.get(account)?.outgoing ?? 0;
    return (!full.account || outgoing === 0) && (!full.total || this.#all.outgoing === 0);
  }

  #goBeyond(waiter: Waiter): boolean {
    if (this.#beyond) return false;
    this.#beyond = waiter;
    waiter.isExempt = true;
    return true;
  }
}

function heldIn({ incoming, outgoing }: Sum): number {
  return incoming + outgoing;
}
