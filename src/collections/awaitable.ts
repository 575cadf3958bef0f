/** A value, or a promise of it. */
export type Awaitable<Value> = Value | Promise<Value>;

/**
 * Maps a value, synchronously if it is available. Awaiting an available value costs a request more than most of its
 * work: a promise, a retained frame and a microtask each time.
 * @param next its synchronous errors are thrown synchronously
 * @returns the result of `next`
 */
export function mapAwaitable<Value, Result>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return isToCome(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Returns whether a value is a promise, also one of another implementation. */
function isToCome<Value>(value: Awaitable<Value>): value is Promise<Value> {
  if (value instanceof Promise) return true;
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** A resolved promise. */
export const done: Promise<void> = Promise.resolve();
