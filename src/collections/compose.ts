type Next = () => Promise<void>;

/**
 * Makes one step of several, each of which decides whether the next one runs. What koa-compose does besides costs
 * each request more than most steps do, so here a step calls `next` once and awaits or returns what it gives. Nobody
 * checks that; what a step throws at once is thrown at once, for a step before it to catch.
 * @param steps in their order; one that need not wait for anything may give nothing
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
