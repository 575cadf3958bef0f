import { z } from 'zod';

/** What the operator allows of a backend. */
export const policySettings = z
  .strictObject({})
  .prefault({})
  .describe('What may be used of it, and how often.');

/** What is kept of the answers of a backend. */
export const cacheSettings = z
  .strictObject({})
  .prefault({})
  .describe('What of its answers is kept, and how long.');
