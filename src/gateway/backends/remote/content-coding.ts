import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, type Zlib } from 'node:zlib';
import type { BodyTaker } from './wire-answer.ts';

const decoders: ReadonlyMap<string, () => Duplex & Zlib> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Takes a body as it comes, and hands it on without its coding. */
export interface DecodingTaker extends BodyTaker {
  /** Hands nothing on any more. */
  drop(): void;
}

/** Whether a body with this `Content-Encoding` has to be decoded. */
export function isCoded(coding: string | undefined): coding is string {
  return coding !== undefined && coding.trim() !== '' && coding.trim().toLowerCase() !== 'identity';
}

/**
 * Decodes a body while it comes, a part at a time: no more of it is unpacked than its taker reads (FA-46).
 * @param stopReading lets the server wait @returns reads on
 * @returns undefined if the coding cannot be read
 * @see RFC 9110 section 8.4
 */
export function createDecodingTaker(
  coding: string,
  taker: BodyTaker,
  stopReading: () => () => void,
): DecodingTaker | undefined {
  const decoder = decoders.get(coding.trim().toLowerCase())?.();
  if (!decoder) return undefined;
  let isOver = false;
  const end = (...broken: Parameters<BodyTaker['ended']>): void => {
    if (isOver) return;
    isOver = true;
    taker.ended(...broken);
  };
  const drop = (): void => {
    isOver = true;
    decoder.destroy();
  };
  decoder.on('data', (bytes: Buffer) => {
    if (!isOver) taker.data(bytes);
  });
  decoder.on('end', () => end());
  decoder.on('error', () => end('backend_not_http'));
  return {
    data(bytes) {
      if (!decoder.write(bytes)) decoder.once('drain', stopReading());
    },
    ended(broken) {
      if (broken === undefined) decoder.end();
      else {
        decoder.destroy();
        end(broken);
      }
    },
    dropped() {
      drop();
      taker.dropped?.();
    },
    drop,
  };
}

/** Whether a body with this coding can be read. */
export function isReadableCoding(coding: string): boolean {
  return decoders.has(coding.trim().toLowerCase());
}
