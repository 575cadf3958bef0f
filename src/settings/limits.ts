import { z } from 'zod';
import { addressRange } from './addresses.ts';

/** Seconds of a day. */
export const day = 86_400;

/**
 * Creates a setting for a duration.
 * @param defaultValue in seconds, like the maximum
 */
export const seconds = (defaultValue: number, maximum: number, description: string) =>
  z.int().min(1).max(maximum).default(defaultValue).describe(description);

const limit = (times: number, windowSeconds: number, description: string) =>
  z
    .strictObject({
      times: z.int().min(1).default(times).describe('number of times per window'),
      windowSeconds: seconds(windowSeconds, day, 'length of the window'),
    })
    .prefault({})
    .describe(description);

/** Settings: rate limits. */
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
        times: z.int().min(1).describe('number of times per window'),
        windowSeconds: seconds(60, day, 'length of the window'),
      })
      .optional()
      .describe('MCP requests of a client for an account, over all its transports; default: no limit'),
    requests: limit(3000, 60, 'requests of an address to pages and endpoints that have no tighter limit'),
    sharedAddresses: z
      .array(addressRange)
      .default(['160.79.104.0/21'])
      .describe(
        'addresses and CIDR ranges shared by many people: all limits per address except those of logins are 20 times as high for them; default: those of Anthropic, from which claude.ai calls',
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
          'time after which a client that reads nothing may lose its response if others need the memory; a response waits twice as long for memory',
        ),
      })
      .prefault({})
      .describe(
        'bytes of responses held for clients that have not read them; if the memory is used up, backends wait, then the slowest client is disconnected',
      ),
  })
  .prefault({})
  .describe('Rate limits; beyond them the response is 429. An IPv6 address counts by its /64.');

/** Settings: lifetime and form of tokens. */
export const tokenSettings = z
  .strictObject({
    accessTokenSeconds: seconds(3600, day, 'lifetime of an access token'),
    codeSeconds: seconds(60, 600, 'lifetime of an authorization code'),
    refreshTokenSeconds: seconds(30 * day, 365 * day, 'lifetime of a refresh token without use'),
    grantSeconds: seconds(180 * day, 730 * day, 'lifetime of a grant, regardless of refreshes'),
    refreshGraceSeconds: z
      .int()
      .min(0)
      .max(600)
      .default(120)
      .describe('time in which a used refresh token returns the same response again; 0 for never'),
    repeatFromOtherAddress: z
      .enum(['allow', 'end'])
      .default('allow')
      .describe(
        'action if a used refresh token is repeated in that time from another address: allow returns the same response again, end ends the grant; both are in the audit log (token.repeated)',
      ),
    format: z
      .enum(['opaque', 'jwt'])
      .default('opaque')
      .describe(
        'form of access tokens for the MCP endpoint: opaque ones are looked up; jwt can be verified by others as well, such as a gateway in front',
      ),
    dpop: z
      .strictObject({
        required: z
          .boolean()
          .default(false)
          .describe(
            'the MCP endpoint accepts only access tokens bound to a key of the client; also the default of dpopRequired for resources',
          ),
        requireNonce: z
          .boolean()
          .default(false)
          .describe('each proof requires a nonce issued by this server'),
      })
      .prefault({})
      .describe('access tokens bound to a key of the client (DPoP)'),
  })
  .prefault({})
  .describe('Lifetimes of tokens and grants.');

/** Settings: logins in the browser and on devices without one. */
export const loginSettings = z
  .strictObject({
    sessionSeconds: seconds(14 * day, 90 * day, 'lifetime of a login in the browser, regardless of use'),
    sessionIdleSeconds: seconds(7 * day, 90 * day, 'lifetime of a login in the browser without use'),
    pageSeconds: seconds(3600, day, 'time for the user to complete the login and consent pages'),
    deviceFlow: z
      .boolean()
      .default(true)
      .describe('a device without a browser may log in with a code that the user enters on another device'),
    deviceCodeSeconds: seconds(600, 1800, 'time for the user to enter the code of a device'),
  })
  .prefault({})
  .describe('The login and consent pages.');

/** Settings: the MCP endpoint. */
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
        'stored: clients up to 2025-11-25 have sessions, which survive a restart; none: each of their requests is independent',
      ),
    sessionIdleSeconds: seconds(1800, day, 'lifetime of an MCP session without requests'),
    maxSessions: z.int().min(1).default(10_000).describe('concurrent MCP sessions'),
    maxSessionsPerPrincipal: z
      .int()
      .min(1)
      .default(100)
      .describe('concurrent MCP sessions of one account with one client'),
    maxStreamsPerPrincipal: z
      .int()
      .min(1)
      .default(64)
      .describe('open streams without a session, of one account with one client'),
    maxCallsPerPrincipal: z
      .int()
      .min(1)
      .default(256)
      .describe('concurrent calls of one account with one client'),
    eventSeconds: seconds(3600, day, 'retention of stream events for clients that reconnect'),
    maxEventsPerSession: z
      .int()
      .min(1)
      .default(1000)
      .describe('stored events per session; the oldest are dropped first'),
    maxEventBytesPerSession: z
      .int()
      .min(1024)
      .default(4 * 1024 * 1024)
      .describe('size of the stored events per session'),
  })
  .prefault({})
  .describe('The MCP endpoint.');
