import type { Context } from 'koa';
import getRawBody from 'raw-body';

/** A body that cannot be read: compressed, too large, or cut off. */
export class BodyRefused extends Error {
  override name = 'BodyRefused';
  readonly status: 400 | 413 | 415;
  constructor(status: BodyRefused['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads a request body up to a limit; stops reading at the limit (T-134).
 * `raw-body` because it is what the Node frameworks themselves use for this.
 * @param limit bytes
 * @throws BodyRefused
 */
export async function readBody(ctx: Context, limit: number): Promise<Buffer> {
  const coding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (coding !== '' && coding !== 'identity')
    throw new BodyRefused(415, 'Send the body without a Content-Encoding.');
  try {
    return await getRawBody(ctx.req, { length: ctx.req.headers['content-length'] ?? null, limit });
  } catch (error) {
    if ((error as { type?: string }).type === 'entity.too.large')
      throw new BodyRefused(413, `The request body may have at most ${limit} bytes.`);
    throw new BodyRefused(400, 'The request body could not be read.');
  }
}
