import { z } from 'zod';
import { day, seconds } from './times.ts';

/** The settings of logins in the browser and on devices without one. */
export const loginSettings = z
  .strictObject({
    sessionSeconds: seconds(14 * day, 90 * day, 'life of a login in the browser, however often it is used'),
    sessionIdleSeconds: seconds(7 * day, 90 * day, 'life of a login in the browser that is not used'),
    pageSeconds: seconds(3600, day, 'time to answer the login and consent pages'),
    deviceFlow: z
      .boolean()
      .default(true)
      .describe('whether a device without a browser may log in with a code that is entered on another one'),
    deviceCodeSeconds: seconds(600, 1800, 'how long a device waits for its code to be entered'),
  })
  .prefault({})
  .describe('The login and consent pages.');
