import { z } from 'zod';
import { addressRange } from './addresses.ts';
import { day, seconds } from './times.ts';

const limit = (times: number, windowSeconds: number, description: string) =>
  z
    .strictObject({
      times: z.int().min(1).default(times).describe('times in a window'),
      windowSeconds: seconds(windowSeconds, day, 'length of the window'),
    })
    .prefault({})
    .describe(description);

/** The settings for how often something may happen. */
export const limitSettings = z
  .strictObject({
    registrations: limit(300, 600, 'client registrations of an address'),
    authorizations: limit(
      300,
      600,
      'authorization requests of a client from an address; of all its clients together ten times as many',
    ),
    tokenFailures: limit(
      300,
      60,
      'refused requests of a client from an address to the token endpoint and its like; of all its clients together ten times as many',
    ),
    tokensPerGrant: limit(1000, 60, 'answers with tokens to a client for an account'),
    refreshesWithoutCall: limit(
      10,
      60,
      'refreshes of a grant while no call with its access tokens is accepted here',
    ),
    mcpRequests: z
      .strictObject({
        times: z.int().min(1).describe('times in a window'),
        windowSeconds: seconds(60, day, 'length of the window'),
      })
      .optional()
      .describe(
        'MCP requests of a client for an account, over all its transports; no limit where it is left out',
      ),
    toolCalls: z
      .strictObject({
        times: z.int().min(0).default(3000).describe('times in a window; 0 for no limit'),
        windowSeconds: seconds(60, day, 'length of the window'),
      })
      .prefault({})
      .describe('calls of one tool of a route by an account, over all its clients and transports'),
    requests: limit(3000, 60, 'requests of an address to pages and endpoints that have no tighter limit'),
    sharedAddresses: z
      .array(addressRange)
      .default(['160.79.104.0/21'])
      .describe(
        'addresses and CIDR ranges behind which many people stand: all limits of an address but those of logins are 20 times as high for them; by default those of Anthropic, from where claude.ai calls',
      ),
    loginsPerAccountAndAddress: limit(10, 900, 'failed logins of an account from one address'),
    loginsPerAccount: limit(100, 900, 'failed logins of an account from all addresses'),
    metadataDocuments: limit(60, 600, 'unknown client documents fetched because of an address'),
    metadataDocumentsPerHost: limit(120, 600, 'client documents fetched from one host or network'),
    deviceCodes: limit(20, 900, 'wrong device codes of an address, or of a browser'),
    codesPerAccount: limit(10, 900, 'wrong one-time codes of an account'),
    passwordResetsPerAddress: limit(20, 900, 'reset links of an address that do not work'),
    loginsPerAddress: limit(100, 900, 'failed logins of an address, whatever the account'),
    heldBytes: z
      .strictObject({
        perAccount: z
          .int()
          .min(1_000_000)
          .default(64_000_000)
          .describe('for the clients of one account, in bytes'),
        total: z.int().min(1_000_000).default(128_000_000).describe('for all clients, in bytes'),
        patienceSeconds: seconds(
          10,
          600,
          'how long a client may take nothing while others need the room; an answer waits twice as long for room',
        ),
      })
      .prefault({})
      .describe(
        'how many bytes of answers are held for clients that have not taken them; without room, backends wait, then the slowest client is cut off',
      ),
  })
  .prefault({})
  .describe('How often something may happen before the answer is 429. An IPv6 address counts by its /64.');
