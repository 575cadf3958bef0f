/** What is there, or is to come. */
export type Awaitable<Value> = Value | Promise<Value>;

/**
 * Goes on with a value, at once where it is there. To wait for what is there costs a request more than most of what is
 * done for it: each time a promise, a frame that is kept and a turn in a queue.
 * @param value what is there, or is to come
 * @param next takes it; what it throws at once is thrown at once
 * @returns what `next` gives
 */
export function goOn<Value, Result>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
