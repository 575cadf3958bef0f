/** What is there, or is to come. */
export type Awaitable<Value> = Value | Promise<Value>;

/**
 * Goes on with a value, at once if it is there. To wait for what is there costs a request more than most of what is
 * done for it: each time a promise, a frame that is kept and a turn in a queue.
 * @param value what is there, or is to come
 * @param next takes it; what it throws at once is thrown at once
 * @returns what `next` gives
 */
export function mapAwaitable<Value, Result>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return isToCome(value) ? Promise.resolve(value).then(next) : next(value);
}

/** Whether a value is to come, also if the promise of it is not of our making. */
function isToCome<Value>(value: Awaitable<Value>): value is Promise<Value> {
  if (value instanceof Promise) return true;
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** For who waits for a promise of what has happened already. */
export const done: Promise<void> = Promise.resolve();
