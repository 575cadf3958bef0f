import { z } from 'zod';

/** Seconds of a day. */
export const day = 86_400;

/**
 * A setting that is a time.
 * @param defaultValue in seconds, like the maximum
 */
export const seconds = (defaultValue: number, maximum: number, description: string) =>
  z.int().min(1).max(maximum).default(defaultValue).describe(description);
