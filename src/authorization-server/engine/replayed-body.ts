import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';

/**
 * Replaces the body that the engine will read. The engine reads the stream itself.
 * @param body the body that was read from the stream, perhaps rewritten; the last call counts
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
