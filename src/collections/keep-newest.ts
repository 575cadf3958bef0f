/**
 * Puts a value into a map of bounded size, as its newest entry. If the map is full, the entry that was put there longest
 * ago is removed. `lru-cache` does more (it moves an entry at each read, and counts sizes and times) that no caller
 * needs, and would be a dependency for these four lines.
 * @param most maximum number of entries
 */
export function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  const [oldest] = map.size >= most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}
