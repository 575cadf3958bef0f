type Next = () => Promise<void>;

/**
 * Composes middleware, each of which decides if the next one runs. The checks of koa-compose cost each request more
 * than most middleware, so here a middleware must call `next` at most once and await or return its result. An error
 * thrown synchronously stays synchronous.
 * @param steps in order; a synchronous one may return nothing
 */
export function compose<Context>(
  steps: readonly ((context: Context, next: Next) => Promise<void> | void)[],
): (context: Context, next: Next) => Promise<void> {
  return (context, next) => {
    const run = (index: number): Promise<void> => {
      const step = steps[index];
      return (step === undefined ? next() : step(context, () => run(index + 1))) as Promise<void>;
    };
    return run(0);
  };
}
