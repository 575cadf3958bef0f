import { createHmac, timingSafeEqual } from 'node:crypto';

/** Nonces that this server gives out and knows again without keeping them. */
export interface DpopNonces {
  /** The one to give out now. */
  current(): string;
  /** Whether it is one of ours and not too old. */
  accepts(nonce: string): boolean;
}

/** How long one nonce is given out, in seconds. */
const stepSeconds = 60;

/** How many steps a nonce is accepted after its own. */
const acceptedSteps = 4;

/** How long after it was given out first a nonce is accepted, in seconds. */
export const nonceLifeSeconds = stepSeconds * (acceptedSteps + 1);

/**
 * Creates nonces that follow from a key and the time: every process with the key knows those of the others, nobody
 * without it can tell one in advance, and nothing is stored.
 * @param keys gives the keys of now, each 32 bytes or more, as text; the first makes nonces, every one accepts them
 * @param now epoch seconds
 * @see RFC 9449 sections 8 and 9
 */
export function createDpopNonces(keys: () => readonly string[], now: () => number): DpopNonces {
  const step = (): number => Math.floor(now() / stepSeconds);
  const nonceOf = (at: number, key = ''): string =>
    createHmac('sha256', key).update(`dpop ${at}`).digest('base64url');
  const backSteps = Array.from({ length: acceptedSteps + 1 }, (_, back) => back);
  return {
    current: () => nonceOf(step(), keys()[0]),
    accepts(nonce) {
      const at = step();
      const given = Buffer.from(nonce);
      return keys()
        .flatMap((key) => backSteps.map((back) => Buffer.from(nonceOf(at - back, key))))
        .some((known) => known.length === given.length && timingSafeEqual(known, given));
    },
  };
}
