import type { Readable } from 'node:stream';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { bodyTooLarge } from './headers.ts';
import type { Refusal } from './refusal.ts';

/**
 * Returns a body that has arrived as a whole already. Small bodies arrive with the head of their request, and waiting
 * for them would cost more than parsing their JSON.
 * @param contentLength the announced length
 * @param maxBytes largest body
 * @returns undefined if the body is not complete: use {@link readBody}
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
 * Reads a body, and stops at the limit (T-134). Nearly every body of MCP is one small chunk, which is returned without a copy.
 * @param contentLength the announced length; a body of another length was cut off
 * @param maxBytes largest body
 */
export function readBody(
  body: Readable,
  contentLength: string | undefined,
  maxBytes: number,
): Promise<Buffer | Refusal> {
  // The sender has disconnected: no event of the body would follow.
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

/** Queues for reading bodies that may be large, one for each principal. */
export interface BodyTurns {
  /**
   * Waits for a turn.
   * @param principal see `principalKey`
   * @returns releases the turn; call it once
   */
  take(principal: string): Promise<() => void>;
}

/**
 * Creates the queues, so that one principal cannot fill the memory with many bodies at once that never end (T-134,
 * T-143). The other bodies wait in the network, until Node's time limit of a request.
 * @param maxAtOnce maximum number of bodies of one principal that are read at the same time
 */
export function createBodyTurns(maxAtOnce: number): BodyTurns {
  const readers = new InFlightMap<string, { reading: number; waiting: (() => void)[] }>();

  const release = (principal: string): void => {
    const reader = readers.get(principal);
    if (!reader) return;
    const next = reader.waiting.shift();
    if (next) next();
    else if (--reader.reading === 0) readers.delete(principal);
  };
  return {
    async take(principal) {
      const reader = readers.get(principal) ?? { reading: 0, waiting: [] };
      readers.set(principal, reader);
      if (reader.reading < maxAtOnce) reader.reading++;
      else await new Promise<void>((resolve) => reader.waiting.push(resolve));
      return () => release(principal);
    },
  };
}
