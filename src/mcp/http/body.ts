import type { Readable } from 'node:stream';
import { bodyTooLarge } from './body-headers.ts';
import type { Refusal } from './refusal.ts';

/**
 * Takes a body that has come as a whole already, as small ones come with the head of their request: to wait for it as
 * for others costs a call more than its JSON.
 * @param contentLength what was announced
 * @param maxBytes largest body
 * @returns undefined if it has not, which is for {@link readBody}
 */
export function takeWholeBody(
  body: Readable,
  contentLength: string | undefined,
  maxBytes: number,
): Buffer | undefined {
  const { readable, readableLength, readableFlowing } = body;
  const isWhole = readable && readableLength > 0 && readableLength === Number(contentLength);
  if (!isWhole || readableFlowing === true || readableLength > maxBytes) return undefined;
  const bytes = body.read() as Buffer;
  // Its end is still to come, and has to be read as well.
  body.resume();
  return bytes;
}

const cutOff: Refusal = { reason: 'body_cut_off', headers: { Connection: 'close' } };

/**
 * Reads a body, and stops at the limit (T-134). Nearly every body of MCP is one small chunk, which is given as it came:
 * what a reader for all cases does for it costs a call more than its JSON.
 * @param contentLength what was announced; a body that ends elsewhere was cut off
 * @param maxBytes largest body
 */
export function readBody(
  body: Readable,
  contentLength: string | undefined,
  maxBytes: number,
): Promise<Buffer | Refusal> {
  // Nothing would ever come of a body whose sender has gone already.
  if (!body.readable) return Promise.resolve(cutOff);
  if (Number(contentLength) > maxBytes) return Promise.resolve(bodyTooLarge);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      body.off('data', take);
      body.pause();
      resolve(bodyTooLarge);
    };
    const breakOff = (): void => resolve(cutOff);
    body.on('data', take);
    body.on('end', () => {
      const isWhole = contentLength === undefined || length === Number(contentLength);
      const [only] = chunks;
      resolve(!isWhole ? cutOff : chunks.length === 1 && only ? only : Buffer.concat(chunks, length));
    });
    body.on('error', breakOff);
    body.on('close', breakOff);
  });
}
