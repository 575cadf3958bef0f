import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import leven from 'leven';
import proxyAddr from 'proxy-addr';
import { z } from 'zod';
import { canonicalHostPattern } from './oauth/host-pattern.ts';
import { isLoopbackHost } from './oauth/redirect-uri.ts';
import { type ToleranceName, toleranceNames, tolerances } from './oauth/tolerances.ts';
import { logLevels } from './observability/logger.ts';
import { resourceSettings } from './resource-settings.ts';
import { tokenExchangeSettings, trustedIssuerSettings } from './trusted-issuer-settings.ts';

const seconds = (defaultValue: number, maximum: number, description: string) =>
  z.int().min(1).max(maximum).default(defaultValue).describe(description);

const day = 86_400;

const rotationDays = (defaultValue: number, description: string) =>
  z.int().min(0).max(3650).default(defaultValue).describe(description);

const limit = (times: number, windowSeconds: number, description: string) =>
  z
    .strictObject({
      times: z.int().min(1).default(times).describe('times in a window'),
      windowSeconds: seconds(windowSeconds, day, 'length of the window'),
    })
    .prefault({})
    .describe(description);

function checkPublicUrl(value: string): string | undefined {
  const url = URL.parse(value);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'must be an absolute URL such as https://mcp.example.com';
  if (url.search !== '' || url.hash !== '' || url.username !== '')
    return 'must have no query, fragment or user name';
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return 'must begin with https:// (http:// is for localhost alone)';
  return undefined;
}

const proxy = z.string().refine(
  (value) => {
    try {
      return Boolean(proxyAddr.compile(value));
    } catch {
      return false;
    }
  },
  { error: 'must be an address, a CIDR range, loopback, linklocal or uniquelocal' },
);

const addressRange = z.string().refine((value) => isIP(value) !== 0 || ipaddr.isValidCIDR(value), {
  error: 'must be an address or a CIDR range such as 203.0.113.0/24',
});

const hostPattern = z.string().transform((value, context) => {
  const canonical = canonicalHostPattern(value);
  if (canonical === undefined)
    context.addIssue({ code: 'custom', message: 'must be a host such as app.example.com, or *.example.com' });
  return canonical ?? value;
});

const origin = z.string().refine((value) => URL.parse(value)?.origin === value, {
  error: 'must be an origin such as https://app.example.com, without a path or a slash at its end',
});

const publicUrl = z
  .string()
  .superRefine((value, context) => {
    const fault = checkPublicUrl(value);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  })
  .transform((value) => {
    const url = URL.parse(value);
    return url ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : value;
  })
  .describe(
    'Where clients reach this server: every URL it publishes begins with it. Also the issuer of its tokens.',
  );

const tolerance = (name: ToleranceName) =>
  z.boolean().default(true).describe(`takes ${tolerances[name].takes}; else ${tolerances[name].otherwise}`);

const preRegisteredClient = z.strictObject({
  clientId: z.string().describe('its client_id'),
  name: z.string().describe('what people call it; consent says that you registered it'),
  redirectUris: z.array(z.string()).default([]).describe('where codes may go'),
  authMethod: z
    .enum(['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'])
    .default('none')
    .describe('how it authenticates'),
  secretHash: z
    .string()
    .optional()
    .describe('its secret as sha256: and what sha256sum prints of it; never the secret itself'),
  secretFile: z
    .string()
    .min(1)
    .optional()
    .describe('or the file its secret is read from at each start, relative to the config file'),
  secretExpires: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('when its secret ends, such as 2027-01-31T00:00:00Z; never where absent'),
  jwks: z
    .looseObject({ keys: z.array(z.record(z.string(), z.unknown())) })
    .optional()
    .describe('its public keys, for private_key_jwt'),
  jwksUri: z.string().optional().describe('or the https URL they are fetched from'),
  grantTypes: z
    .array(
      z.enum([
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
        'urn:ietf:params:oauth:grant-type:token-exchange',
      ]),
    )
    .default(['authorization_code', 'refresh_token'])
    .describe('what it may ask for'),
  scopes: z
    .array(z.string())
    .optional()
    .describe('the most it may have; all there is where absent; needed for client_credentials'),
});

const settings = z.strictObject({
  publicUrl: publicUrl.optional(),
  listen: z
    .strictObject({
      host: z.string().default('127.0.0.1').describe('address to listen on; 0.0.0.0 inside a container'),
      port: z.int().min(0).max(65_535).default(3000).describe('port to listen on; 0 for any free one'),
    })
    .prefault({})
    .describe('Where the server listens.'),
  data: z
    .string()
    .min(1)
    .default('./data')
    .describe('Folder of the database and the key file, relative to the config file.'),
  trustedProxies: z
    .array(proxy)
    .default([])
    .describe(
      'Proxies whose X-Forwarded-For counts: addresses, CIDR ranges, loopback, linklocal, uniquelocal.',
    ),
  allowedOrigins: z
    .array(origin)
    .default([])
    .describe(
      'Origins of browser clients that may call the MCP endpoint, beside our own and, on localhost, loopback ones.',
    ),
  tokens: z
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
              'whether the MCP endpoint takes only access tokens that are bound to a key of the client',
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
    .describe('Lifetimes of what is issued.'),
  resources: resourceSettings,
  trustedIssuers: trustedIssuerSettings,
  tokenExchange: tokenExchangeSettings,
  clients: z
    .strictObject({
      preRegistered: z
        .array(preRegisteredClient)
        .default([])
        .describe('clients that you register; one that is taken out here ends at the next start'),
      clientCredentials: z
        .boolean()
        .default(false)
        .describe('whether clients that you register may act for themselves (client credentials)'),
      registration: z
        .enum(['open', 'approval', 'initial_access_token', 'off'])
        .default('open')
        .describe(
          'who may register clients: open, anybody; approval, anybody, and an operator approves each client before it is used; initial_access_token, who was invited; off, nobody',
        ),
      sealedIds: z
        .boolean()
        .default(false)
        .describe(
          'whether a client that registers gets an id that holds its registration, so that nothing is stored before somebody consents to it',
        ),
      metadataDocuments: z
        .strictObject({
          enabled: z
            .boolean()
            .default(true)
            .describe(
              'whether a client may be known by the https URL of a document about itself, which this server then fetches',
            ),
          allowedHosts: z
            .array(hostPattern)
            .prefault([])
            .describe(
              'hosts whose documents are taken, such as claude.ai or *.example.com (the hosts below it); any where none is named',
            ),
          deniedHosts: z
            .array(hostPattern)
            .prefault([])
            .describe(
              'hosts whose documents are never taken; what their clients were given ends when they refresh',
            ),
        })
        .prefault({})
        .describe('client ID metadata documents'),
      tolerances: z
        .strictObject(
          Object.fromEntries(toleranceNames.map((name) => [name, tolerance(name)])) as Record<
            ToleranceName,
            ReturnType<typeof tolerance>
          >,
        )
        .prefault({})
        .describe('quirks of real clients that are let through; docs/tolerances.md says whose they are'),
    })
    .prefault({})
    .describe('How clients become known.'),
  login: z
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
    .describe('The login and consent pages.'),
  limits: z
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
    })
    .prefault({})
    .describe('How often something may happen before the answer is 429. An IPv6 address counts by its /64.'),
  mcp: z
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
    .describe('The MCP endpoint.'),
  rotation: z
    .strictObject({
      signingDays: rotationDays(90, 'days a key signs tokens'),
      cookieDays: rotationDays(90, 'days a key signs cookies and forms'),
      sealingDays: rotationDays(365, 'days a key seals what the database holds'),
    })
    .prefault({})
    .describe(
      'How long a key is in use before the server makes the next one; 0 for as long as the operator wants. Nobody notices.',
    ),
  audit: z
    .strictObject({
      keepDays: z.int().min(1).max(3650).default(365).describe('days an event is kept'),
      maxEvents: z.int().min(1000).default(1_000_000).describe('events kept; the oldest go first'),
    })
    .prefault({})
    .describe('The audit log in the database: gatehouse audit shows, exports and checks it.'),
  log: z
    .strictObject({
      level: z.enum(logLevels).default('info').describe('lowest level written to standard error'),
    })
    .prefault({})
    .describe('The log: one JSON line an event.'),
  metrics: z
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
    .describe('Numbers for an operator, on a port of their own. They name no person, client or token.'),
  dangerously: z
    .strictObject({
      fetchFromLoopback: z
        .boolean()
        .default(false)
        .describe('fetches client documents from this very machine as well'),
    })
    .prefault({})
    .describe(
      'What makes an installation unsafe, for development alone: refused unless publicUrl is on localhost, and logged at each start.',
    ),
});

/** Every setting, with its default and what it does. The config file, the library and the reference share it. */
export const settingsSchema = settings.superRefine(({ publicUrl: url, clients, dangerously }, context) => {
  if (clients.sealedIds && clients.registration === 'approval')
    context.addIssue({
      code: 'custom',
      path: ['clients', 'sealedIds'],
      message:
        'does not go with registration: approval, because nothing is stored that an operator could approve',
    });
  const dangers = Object.entries(dangerously).filter(([, value]) => value);
  const host = url === undefined ? undefined : URL.parse(url)?.hostname;
  if (host === undefined || isLoopbackHost(host)) return;
  for (const [name] of dangers)
    context.addIssue({
      code: 'custom',
      path: ['dangerously', name],
      message: 'is for development: leave it out, or use a publicUrl on localhost',
    });
});

/** Settings as written: everything may be left out. */
export type SettingsInput = z.input<typeof settingsSchema>;

/** Settings with their defaults filled in. */
export type Settings = z.output<typeof settingsSchema>;

/** Settings that cannot be used; every problem is named at once. */
export class SettingsRefused extends Error {
  override name = 'SettingsRefused';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** The names a place in the settings knows. */
function knownNames(path: readonly PropertyKey[]): string[] {
  let schema: unknown = settingsSchema;
  for (const step of path)
    schema = typeof step === 'number' ? elementOf(schema) : shapeOf(schema)?.[String(step)];
  return Object.keys(shapeOf(schema) ?? {});
}

function elementOf(schema: unknown): unknown {
  let inner = schema as { element?: unknown; unwrap?: () => unknown } | undefined;
  while (inner && inner.element === undefined && inner.unwrap) inner = inner.unwrap() as typeof inner;
  return inner?.element;
}

function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  let inner = schema as { shape?: Record<string, unknown>; unwrap?: () => unknown } | undefined;
  while (inner && !inner.shape && inner.unwrap) inner = inner.unwrap() as typeof inner;
  return inner?.shape;
}

/**
 * Finds the name that was probably meant.
 * @returns undefined where none of the names is near
 */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const ranked = names.map((known) => ({ known, distance: leven(name.toLowerCase(), known.toLowerCase()) }));
  ranked.sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(2, Math.floor(name.length / 3)) ? best.known : undefined;
}

function describeIssue(issue: z.core.$ZodIssue): string[] {
  const place = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return [`${place || 'settings'}: ${issue.message}`];
  return issue.keys.map((key) => {
    const suggestion = nearest(key, knownNames(issue.path));
    const name = place ? `${place}.${key}` : key;
    return `${name}: there is no such setting${suggestion ? `; did you mean ${suggestion}?` : ''}`;
  });
}

/**
 * Checks settings and fills in the defaults.
 * @throws SettingsRefused with all problems at once, and the nearest name for a misspelled one
 */
export function parseSettings(input: unknown): Settings {
  const parsed = settingsSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new SettingsRefused(parsed.error.issues.flatMap(describeIssue));
}
