import { z } from 'zod';
import { addressRange } from './addresses.ts';

/** Seconds of a day. */
export const day = 86_400;

/**
 * A setting that is a time.
 * @param defaultValue in seconds, like the maximum
 */
export const seconds = (defaultValue: number, maximum: number, description: string) =>
  z.int().min(1).max(maximum).default(defaultValue).describe(description);

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

/** The settings of tokens: how long they live and what they are. */
export const tokenSettings = z
  .strictObject({
    accessTokenSeconds: seconds(3600, day, 'life of an access token'),
    codeSeconds: seconds(60, 600, 'life of an authorization code'),
    refreshTokenSeconds: seconds(30 * day, 365 * day, 'life of a refresh token that is not used'),
    grantSeconds: seconds(180 * day, 730 * day, 'life of a consent, however often it is refreshed'),
    refreshGraceSeconds: z
      .int()
      .min(0)
      .max(600)
      .default(120)
      .describe('how long a refresh token that was used gives the same answer again; 0 for never'),
    repeatFromOtherAddress: z
      .enum(['allow', 'end'])
      .default('allow')
      .describe(
        'what becomes of a used refresh token that comes again in that time from another address: allow gives the same answer again, end ends the grant; both are in the audit log (token.repeated)',
      ),
    format: z
      .enum(['opaque', 'jwt'])
      .default('opaque')
      .describe(
        'what access tokens for the MCP endpoint are: opaque ones are looked up; jwt can be checked by others, too, such as a gateway in front',
      ),
    dpop: z
      .strictObject({
        required: z
          .boolean()
          .default(false)
          .describe(
            'whether the MCP endpoint takes only access tokens that are bound to a key of the client; entries of resources follow, unless they say dpopRequired',
          ),
        requireNonce: z
          .boolean()
          .default(false)
          .describe('whether each proof has to hold a nonce that this server gave out'),
      })
      .prefault({})
      .describe('access tokens that are bound to a key of the client (DPoP)'),
  })
  .prefault({})
  .describe('Lifetimes of what is issued.');

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
