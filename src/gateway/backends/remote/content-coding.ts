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

function nameOf(coding: string | undefined): string {
  return coding?.trim().toLowerCase() ?? '';
}

/** Returns true if a body with this `Content-Encoding` can be read; one without any can. */
export function isReadableCoding(coding: string | undefined): boolean {
  const name = nameOf(coding);
  return name === '' || name === 'identity' || decoders.has(name);
}

/**
 * Decodes a body while it comes, a part at a time: no more of it is unpacked than its taker reads (FA-46).
 * @param stopReading lets the server wait @returns reads on
 * @param coding `Content-Encoding`, which can be read
 * @returns undefined if there is nothing to decode
 * @see RFC 9110 section 8.4
 */
export function createDecodingTaker(
  coding: string | undefined,
  taker: BodyTaker,
  stopReading: () => () => void,
): DecodingTaker | undefined {
  const decoder = decoders.get(nameOf(coding))?.();
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
