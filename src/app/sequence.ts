import type { Middleware, Next } from 'koa';

/**
 * Makes one step of several, each of which decides whether the next one runs. What koa-compose does besides costs
 * each request more than most steps do, so here a step calls `next` once and awaits or returns what it gives, and
 * what it throws is for a step before it to catch.
 * @param steps in their order
 */
export function sequence(steps: readonly Middleware[]): Middleware {
  return (ctx, next) => {
    const run = (index: number): ReturnType<Next> => {
      const step = steps[index];
      return step === undefined ? next() : step(ctx, () => run(index + 1));
    };
    return run(0);
  };
}
