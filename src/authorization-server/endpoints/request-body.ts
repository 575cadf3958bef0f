import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import getRawBody from 'raw-body';
import { InFlightMap } from '../../collections/in-flight-map.ts';

/** A body that cannot be read: compressed, too large, or cut off. */
export class BodyRefused extends Error {
  override name = 'BodyRefused';
  readonly status: 400 | 413 | 415;
  /** Whether the body ended too early. Nobody sees the response, and no limit counts the request (T-207). */
  readonly isUnfinished: boolean;
  constructor(status: BodyRefused['status'], message: string, isUnfinished = false) {
    super(message);
    this.status = status;
    this.isUnfinished = isUnfinished;
  }
}

/** Bodies of an address that may be unfinished at once, and the age in milliseconds from which a further one ends the oldest. */
const openBounds = { bodies: 100, ageMs: 2_000 } as const;

/** Unfinished bodies by address, the oldest first, with the time at which reading began. */
const openBodies = new InFlightMap<string, Map<IncomingMessage, number>>();

/** Reads a body as one of the open bodies of its address. */
async function readAsOpen<Body>(ctx: Context, read: () => Promise<Body>): Promise<Body> {
  const address = String(ctx.state.clientAddress);
  const open = openBodies.get(address) ?? new Map<IncomingMessage, number>();
  const [oldest] = open;
  if (oldest && open.size >= openBounds.bodies && performance.now() - oldest[1] > openBounds.ageMs)
    oldest[0].destroy();
  open.set(ctx.req, performance.now());
  openBodies.set(address, open);
  try {
    return await read();
  } finally {
    open.delete(ctx.req);
    if (open.size === 0) openBodies.delete(address);
  }
}

/**
 * Reads a request body up to a limit; stops reading at the limit (T-134). An address with many slow bodies loses the oldest
 * of them for each further one (T-207).
 * `raw-body` because it is what the Node frameworks themselves use for this.
 * @param limit bytes
 * @throws BodyRefused
 */
export async function readBody(ctx: Context, limit: number): Promise<Buffer> {
  const coding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (coding !== '' && coding !== 'identity')
    throw new BodyRefused(415, 'Send the body without a Content-Encoding.');
  try {
    const length = ctx.req.headers['content-length'] ?? null;
    return await readAsOpen(ctx, () => getRawBody(ctx.req, { length, limit }));
  } catch (error) {
    if ((error as { type?: string }).type === 'entity.too.large')
      throw new BodyRefused(413, `The request body may have at most ${limit} bytes.`);
    throw new BodyRefused(400, 'The request body could not be read.', true);
  }
}
