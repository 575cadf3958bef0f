import { InFlightMap } from '../../collections/in-flight-map.ts';

/** KeyedQueue at reading bodies that may be large. */
export interface BodyTurns {
  /**
   * Waits for a turn.
   * @param principal see `principalKey`
   * @returns gives the turn back; to be called once
   */
  take(principal: string): Promise<() => void>;
}

/**
 * Creates the turns, so that one principal cannot fill the memory with many bodies at once that never end (T-134,
 * T-143): the bodies behind wait in the network, and Node's time limit of a request ends those that wait too long.
 * @param maxAtOnce most bodies of one principal that are read at the same time
 */
export function createBodyTurns(maxAtOnce: number): BodyTurns {
  const readers = new InFlightMap<string, { reading: number; waiting: (() => void)[] }>();

  const giveBack = (principal: string): void => {
    const reader = readers.get(principal);
    if (!reader) return;
    const next = reader.waiting.shift();
    if (next) next();
    else if (--reader.reading === 0) readers.delete(principal);
  };
  return {
    async take(principal) {
      const reader = readers.get(principal) ?? { reading: 0, waiting: [] };
      readers.set(principal, reader);
      if (reader.reading < maxAtOnce) reader.reading++;
      else await new Promise<void>((resolve) => reader.waiting.push(resolve));
      return () => giveBack(principal);
    },
  };
}
