import type { ServerResponse } from 'node:http';

/** A connection with an open answer. */
export interface Pulsed {
  readonly response: ServerResponse;
  /** Bytes the client had taken when it was last looked at. */
  takenBytes: number;
  /** Writes a comment; absent on answers that are not streams. */
  beat?(): void;
  /** Closes it, as its client takes nothing. */
  cut(): void;
}

/** Looks after open answers: a comment on every stream in time, and an end to clients that take nothing. */
export interface Pulse {
  /** Looks after an answer until it is closed. */
  add(pulsed: Pulsed): void;
  remove(pulsed: Pulsed): void;
}

/** Streams are spread over this many turns of a period, so that thousands of them are not written to at once. */
const turns = 20;

/**
 * Creates the pulse: one timer for all streams of an endpoint, which runs while there are any. A client with something
 * to take that took nothing for a whole period is cut off (T-143).
 * @param periodMs pause between comments on a stream
 */
export function createPulse(periodMs: number): Pulse {
  const waiting = Array.from({ length: turns }, () => new Set<Pulsed>());
  const turnOf = new Map<Pulsed, Set<Pulsed>>();
  let turn = 0;
  let timer: NodeJS.Timeout | undefined;

  const look = (pulsed: Pulsed): void => {
    const { response } = pulsed;
    const taken = (response.socket?.bytesWritten ?? 0) - (response.socket?.writableLength ?? 0);
    const isStalled = response.writableLength > 0 && taken === pulsed.takenBytes;
    pulsed.takenBytes = taken;
    if (isStalled) pulsed.cut();
    else pulsed.beat?.();
  };
  const next = (): void => {
    turn = (turn + 1) % turns;
    for (const pulsed of waiting[turn] ?? []) look(pulsed);
  };

  return {
    add(pulsed) {
      // The turn that just passed comes last.
      const set = waiting[turn] as Set<Pulsed>;
      set.add(pulsed);
      turnOf.set(pulsed, set);
      timer ??= setInterval(next, Math.max(1, periodMs / turns)).unref();
    },
    remove(pulsed) {
      turnOf.get(pulsed)?.delete(pulsed);
      turnOf.delete(pulsed);
      if (turnOf.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}
