import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';

/**
 * Has the engine, which reads the stream itself, read this in place of the body that came.
 * @param body what was read of the stream and perhaps rewritten; the last one counts
 */
export function replayBody(ctx: Context, body: Buffer): void {
  ctx.state.bodyToReplay = body;
}

/** Sets the body that the engine reads; if no step has read the body, the stream still has it. */
export function restoreBody(ctx: Context): void {
  const body: Buffer | undefined = ctx.state.bodyToReplay;
  if (!body) return;
  // What the engine looks at: no stream, whose every step would cost the request a turn.
  const stream: Record<string | symbol, unknown> = {
    readable: true,
    readableEncoding: null,
    async *iterator() {
      yield body;
    },
  };
  ctx.req.headers['content-length'] = String(body.length);
  delete ctx.req.headers['transfer-encoding'];
  const replayed = new Proxy(ctx.req, {
    get(request, property) {
      const source = Object.hasOwn(stream, property) ? stream : request;
      const value: unknown = Reflect.get(source, property);
      return typeof value === 'function' ? value.bind(source) : value;
    },
  }) as IncomingMessage;
  ctx.req = replayed;
  ctx.request.req = replayed;
}
