/**
 * Sets an entry of a bounded map as its newest; a full map evicts its oldest entry. Not `lru-cache`, which moves entries at
 * each read and counts sizes and times: no caller needs that, and it would be a dependency for these four lines.
 * @param most maximum number of entries
 */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  const [oldest] = map.size >= most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

/**
 * Memoizes the last result of a function, for repeated calls within one request.
 * @param compute a pure function
 */
export function memoizeLast<Result>(compute: (text: string) => Result): (text: string) => Result {
  let last: { text: string; result: Result } | undefined;
  return (text) => {
    if (last === undefined || last.text !== text) last = { text, result: compute(text) };
    return last.result;
  };
}
