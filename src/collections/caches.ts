/**
 * Puts a value into a map that holds so many at most, as its newest; if it is full, the one that was put there longest ago
 * goes.
 * @param most how many entries the map may have
 */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  const [oldest] = map.size >= most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

/**
 * Returns a function that remembers what it gave last: asked for the same again, as within one request, it does not work it out
 * anew.
 * @param compute returns the same for the same text, whenever it is asked
 */
export function memoizeLast<Result>(compute: (text: string) => Result): (text: string) => Result {
  let last: { text: string; result: Result } | undefined;
  return (text) => {
    if (last === undefined || last.text !== text) last = { text, result: compute(text) };
    return last.result;
  };
}
