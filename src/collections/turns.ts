/** Runs a piece of work when all that came before it under the same key is done, whatever became of that. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Creates turns: for each key one piece of work at a time, in the order they came; keys do not wait for each other. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    return mine.finally(() => {
      if (last.get(key) === mine) last.delete(key);
    });
  };
}
