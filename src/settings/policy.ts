import { z } from 'zod';
import { day, seconds } from './limits.ts';

const pattern = z.string().min(1).max(500);

const nameRules = (what: string) =>
  z
    .strictObject({
      allow: z
        .array(pattern)
        .default(['*'])
        .describe('patterns of allowed names; * stands for any characters'),
      deny: z.array(pattern).default([]).describe('patterns of denied names, whatever allow says'),
    })
    .prefault({})
    .describe(`${what} that are allowed; others are not listed, and are rejected as unknown`);

/** Setting: what the operator allows a backend to offer. */
export const policySettings = z
  .strictObject({
    tools: nameRules('tools'),
    prompts: nameRules('prompts'),
    resources: nameRules('resources, by their URIs, and templates of them by theirs,'),
    methods: z
      .record(z.string().min(1).max(200), z.array(z.string()))
      .default({})
      .describe(
        'methods beyond those of MCP that are forwarded in both directions, by name, each with the scopes it requires (empty: those of scopeRules.otherwise); no other rule of the policy applies to them',
      ),
    readOnly: z
      .boolean()
      .default(false)
      .describe(
        'only tools that the backend marks as read-only (readOnlyHint) may be called; Gatehouse cannot verify the mark',
      ),
    onToolChange: z
      .enum(['warn', 'block'])
      .default('warn')
      .describe(
        'action if the definition of a tool, prompt or resource template or the instructions of a server change: warn writes to the log and the audit log, block also withholds the change until it is accepted with gatehouse pins',
      ),
    checkArguments: z
      .boolean()
      .default(false)
      .describe(
        'arguments are validated against the input schema of their tool before the backend receives them',
      ),
    limits: z
      .array(
        z
          .strictObject({
            tools: pattern
              .default('*')
              .describe('pattern of the tool names that it applies to, each counted separately'),
            perMinute: z.int().min(1).optional().describe('calls of the tool per account and minute'),
            atOnce: z.int().min(1).optional().describe('concurrent calls of the tool per account'),
          })
          .refine(({ perMinute, atOnce }) => perMinute !== undefined || atOnce !== undefined, {
            error: 'limits nothing: give perMinute, atOnce or both',
          }),
      )
      .default([])
      .describe('rate limits of tools per account; every matching rule counts'),
    timeLimitSeconds: seconds(
      600,
      day,
      'maximum time for a response; restarts with progress and with questions to the client',
    ),
    longestSeconds: seconds(3600, day, 'maximum time for a response, including progress'),
    breaker: z
      .strictObject({
        failures: z
          .int()
          .min(1)
          .max(1000)
          .default(5)
          .describe('consecutive failures after which the backend is not called'),
        windowSeconds: seconds(60, day, 'time for which a failure counts'),
        openSeconds: seconds(30, day, 'time without calls; then one call tries again'),
      })
      .prefault({})
      .describe('circuit breaker: pauses calls to a failing backend'),
  })
  .prefault({})
  .describe('Allowed use of the backend, and its limits.');

/** The policy of a backend after parsing. */
export type PolicySettings = z.output<typeof policySettings>;

/** Setting: the cache for responses of a backend. */
export const cacheSettings = z
  .strictObject({
    keep: z
      .boolean()
      .default(true)
      .describe(
        'responses of 2026-07-28 are cached as long as they allow (ttlMs): public ones for everybody, others for the access token of the request',
      ),
    listSeconds: z
      .int()
      .min(1)
      .max(day)
      .optional()
      .describe(
        'cache time for lists of a backend of an older revision, for the access token of the request; default: no cache',
      ),
    maxEntries: z.int().min(1).default(1000).describe('maximum number of cached responses'),
    maxBytes: z
      .int()
      .min(1024)
      .default(16 * 1024 * 1024)
      .describe('maximum size of the cache; one response may take a tenth of it'),
  })
  .prefault({})
  .describe('Cache for responses of the backend.');

/** The cache settings of a backend after parsing. */
export type CacheSettings = z.output<typeof cacheSettings>;

/** Settings: the calls of a route in the ledger. */
export const recordingSettings = z
  .strictObject({
    arguments: z
      .enum(['hash', 'redacted', 'full'])
      .default('hash')
      .describe(
        'hash keeps a keyed hash of the arguments; redacted also their shape, with the values of keep; full all of them, encrypted. The consent page says so',
      ),
    keep: z
      .array(z.string().min(1).max(100))
      .max(100)
      .default([])
      .describe('names of the arguments whose values redacted keeps'),
    required: z
      .boolean()
      .default(false)
      .describe(
        'sends a response only once its call is stored, and refuses calls while that is not possible',
      ),
  })
  .prefault({})
  .describe('What the call ledger keeps of its calls.');
