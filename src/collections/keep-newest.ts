/**
 * Puts a value into a map that holds so many at most, as its newest; where it is full, the one that was put there longest ago
 * goes.
 * @param most how many entries the map may have
 */
export function keepNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  const [oldest] = map.size >= most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}
