import { z } from 'zod';
import { logLevels } from '../observability/logger.ts';

/** The settings for where the server listens. */
export const listenSettings = z
  .strictObject({
    host: z.string().default('127.0.0.1').describe('address to listen on; 0.0.0.0 inside a container'),
    port: z.int().min(0).max(65_535).default(3000).describe('port to listen on; 0 for any free one'),
  })
  .prefault({})
  .describe('Where the server listens.');

/** The setting for how Linux shares its processors between the server and others. */
export const schedulingSetting = z
  .enum(['batch', 'other'])
  .default('batch')
  .describe(
    'How Linux runs gatehouse serve and protect, and the programs they start: batch lets what runs finish its turn, so that more calls get through where cores are shared; other breaks in on it, as programs mostly do.',
  );

const rotationDays = (defaultValue: number, description: string) =>
  z.int().min(0).max(3650).default(defaultValue).describe(description);

/** The settings for how often keys change. */
export const rotationSettings = z
  .strictObject({
    signingDays: rotationDays(90, 'days a key signs tokens'),
    cookieDays: rotationDays(90, 'days a key signs cookies and forms'),
    sealingDays: rotationDays(365, 'days a key seals what the database holds'),
  })
  .prefault({})
  .describe(
    'How long a key is in use before the server makes the next one; 0 for as long as the operator wants. Nobody notices.',
  );

/** The settings for how much of the audit log is kept. */
export const auditSettings = z
  .strictObject({
    keepDays: z.int().min(1).max(3650).default(365).describe('days an event is kept'),
    maxEvents: z.int().min(1000).default(1_000_000).describe('events kept; the oldest go first'),
  })
  .prefault({})
  .describe('The audit log in the database: gatehouse audit shows, exports and checks it.');

/** The settings of the log. */
export const logSettings = z
  .strictObject({
    level: z.enum(logLevels).default('info').describe('lowest level written to standard error'),
  })
  .prefault({})
  .describe('The log: one JSON line an event.');

/** The settings for the port with numbers. */
export const metricsSettings = z
  .strictObject({
    port: z
      .int()
      .min(0)
      .max(65_535)
      .optional()
      .describe('port of GET /metrics for Prometheus; none where it is left out'),
    host: z.string().default('127.0.0.1').describe('address of that port; it needs no login'),
  })
  .prefault({})
  .describe('Numbers for an operator, on a port of their own. They name no person, client or token.');

/** The settings that make an installation unsafe. */
export const dangerousSettings = z
  .strictObject({
    fetchFromLoopback: z
      .boolean()
      .default(false)
      .describe('fetches client documents from this very machine as well'),
    upstreamsOverHttp: z
      .boolean()
      .default(false)
      .describe('asks upstreams on this very machine, and without https as well'),
    trustOtherPorts: z
      .boolean()
      .default(false)
      .describe(
        'takes a login cookie alone as proof of a login, though over http browsers send it to every port of the host',
      ),
  })
  .prefault({})
  .describe(
    'What makes an installation unsafe, for development alone: refused unless publicUrl is on localhost, and logged at each start.',
  );
