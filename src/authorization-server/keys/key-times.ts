import type { Lifetimes } from '../engine/configuration.ts';
import type { ProtectedResource } from '../resources.ts';
import type { KeyTimes } from './key-care.ts';

/** After how many days in use keys get a successor; 0 for never. */
export interface RotationDays {
  signingDays: number;
  cookieDays: number;
  sealingDays: number;
}

const daySeconds = 86_400;

/** How far clocks may be apart, and how long an answer may be on its way, in seconds. */
const marginSeconds = 300;

/** Longest life of what is sealed and then held by others (states of requests, nonces, client ids), in seconds. */
const sealedOutsideSeconds = 30 * daySeconds;

/**
 * Gives the times of keys. A replaced signing key is published until the last token it signed has ended, a cookie key
 * taken until the last login it vouches for has.
 * @param lifetimes how long what is signed lives
 * @param resources those whose access tokens have a life of their own among them
 */
export function keyTimes(
  days: RotationDays,
  lifetimes: Lifetimes,
  resources: readonly Pick<ProtectedResource, 'accessTokenSeconds'>[],
): KeyTimes {
  const tokenSeconds = resources.map(({ accessTokenSeconds = 0 }) => accessTokenSeconds);
  return {
    rotateAfterSeconds: {
      signing: days.signingDays * daySeconds,
      cookies: days.cookieDays * daySeconds,
      sealing: days.sealingDays * daySeconds,
    },
    keepSeconds: {
      signing: Math.max(lifetimes.accessTokenSeconds, ...tokenSeconds) + marginSeconds,
      cookies: Math.max(lifetimes.sessionSeconds, lifetimes.interactionSeconds) + marginSeconds,
      sealing: sealedOutsideSeconds,
    },
  };
}
