import type { Context, Next } from 'koa';
import { createWriteBatcher } from '../net/write-batcher.ts';

/** Middleware: answers that are ready at nearly the same time leave together. Who answers without Koa sees to it itself. */
export function answerTogether() {
  const sendTogether = createWriteBatcher();
  return async (ctx: Context, next: Next): Promise<void> => {
    await next();
    if (ctx.respond !== false) await new Promise<void>(sendTogether);
  };
}
