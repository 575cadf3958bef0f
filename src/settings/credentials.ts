import { z } from 'zod';

/** What a backend is given on behalf of a person. */
export const credentialSettings = z
  .strictObject({})
  .prefault({})
  .describe('What it is given on behalf of the person who calls.');
