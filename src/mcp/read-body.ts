import type { Readable } from 'node:stream';
import getRawBody from 'raw-body';
import { bodyTooLarge } from './checks/body-headers.ts';
import type { Refusal } from './refusal.ts';

const cutOff: Refusal = { reason: 'body_cut_off', headers: { Connection: 'close' } };

/**
 * Reads a body, and stops at the limit (T-134). `raw-body`, because it is what the Node frameworks use for this.
 * @param maxBytes largest body
 */
export async function readBody(
  body: Readable,
  contentLength: string | undefined,
  maxBytes: number,
): Promise<Buffer | Refusal> {
  // Nothing would ever come of a body whose sender has gone already.
  if (body.destroyed) return cutOff;
  try {
    return await getRawBody(body, { length: contentLength ?? null, limit: maxBytes });
  } catch (error) {
    return (error as { type?: string }).type === 'entity.too.large' ? bodyTooLarge : cutOff;
  }
}
