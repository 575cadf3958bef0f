import { z } from 'zod';
import { day, seconds } from './times.ts';

/** The settings of the MCP endpoint. */
export const mcpSettings = z
  .strictObject({
    maxBodyBytes: z
      .int()
      .min(1024)
      .default(4 * 1024 * 1024)
      .describe('largest request body'),
    sessions: z
      .enum(['stored', 'none'])
      .default('stored')
      .describe(
        'stored: clients up to 2025-11-25 have sessions, which survive a restart; none: each of their requests stands alone',
      ),
    sessionIdleSeconds: seconds(1800, day, 'life of an MCP session without requests'),
    maxSessions: z.int().min(1).default(10_000).describe('MCP sessions at once'),
    maxSessionsPerPrincipal: z
      .int()
      .min(1)
      .default(100)
      .describe('MCP sessions at once of one account with one client'),
    maxStreamsPerPrincipal: z
      .int()
      .min(1)
      .default(64)
      .describe('open streams without a session of one account with one client'),
    maxCallsPerPrincipal: z
      .int()
      .min(1)
      .default(256)
      .describe('running calls of one account with one client'),
    eventSeconds: seconds(3600, day, 'how long events of a stream are kept for a client to come back'),
    maxEventsPerSession: z
      .int()
      .min(1)
      .default(1000)
      .describe('events kept of a session; the oldest go first'),
    maxEventBytesPerSession: z
      .int()
      .min(1024)
      .default(4 * 1024 * 1024)
      .describe('size of the events kept of a session'),
  })
  .prefault({})
  .describe('The MCP endpoint.');
