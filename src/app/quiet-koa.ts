import Koa, { type Context } from 'koa';

type Steps = (ctx: Context) => Promise<void>;

/** What Koa does with a request, which its types do not tell. */
const { handleRequest } = Koa.prototype as unknown as {
  handleRequest(this: Koa, ctx: Context, steps: Steps): Promise<void>;
};

/**
 * Koa, but that it leaves answers alone that its steps give without it (`ctx.respond = false`). It would listen for the end of
 * each in four places, to tell that a connection failed: a twentieth of what a call takes.
 */
export class QuietKoa extends Koa {
  /** Runs the steps, and has Koa answer with what they found unless they answer themselves. */
  async handleRequest(ctx: Context, steps: Steps): Promise<void> {
    ctx.res.statusCode = 404;
    try {
      await steps(ctx);
    } catch (error) {
      ctx.onerror(error as Error);
      return;
    }
    if (ctx.respond === false) return;
    const { statusCode } = ctx.res;
    await handleRequest.call(this, ctx, async () => {
      ctx.res.statusCode = statusCode;
    });
  }
}
