import { z } from 'zod';
import { day, seconds } from './limits.ts';

const pattern = z.string().min(1).max(500);

const nameRules = (what: string) =>
  z
    .strictObject({
      allow: z
        .array(pattern)
        .default(['*'])
        .describe('patterns of those that may be used; * stands for any characters'),
      deny: z.array(pattern).default([]).describe('patterns of those that may not, whatever allow says'),
    })
    .prefault({})
    .describe(`${what} that may be used; others are not listed, and using one is a name unknown`);

/** What the operator allows of a backend. */
export const policySettings = z
  .strictObject({
    tools: nameRules('tools'),
    prompts: nameRules('prompts'),
    resources: nameRules('resources, by their URIs, and templates of them by theirs,'),
    methods: z
      .record(z.string().min(1).max(200), z.array(z.string()))
      .default({})
      .describe(
        'methods beside those of MCP that pass in both directions, by name, each with the scopes it needs (none: those of scopeRules.otherwise); no other rule of the policy looks into them',
      ),
    readOnly: z
      .boolean()
      .default(false)
      .describe(
        'whether only tools may be called of which the backend says that they change nothing (readOnlyHint); it is its word alone',
      ),
    onToolChange: z
      .enum(['warn', 'block'])
      .default('warn')
      .describe(
        'what is done when the definition of a tool, prompt or resource template or the instructions of a server change: warn tells the log and the audit log, block keeps the change back as well until it is accepted with gatehouse pins',
      ),
    checkArguments: z
      .boolean()
      .default(false)
      .describe(
        'whether arguments are checked by the input schemas of their tools before the backend sees them',
      ),
    limits: z
      .array(
        z
          .strictObject({
            tools: pattern.default('*').describe('pattern of the names of tools it is for, each by itself'),
            perMinute: z.int().min(1).optional().describe('calls of the tool by an account in a minute'),
            atOnce: z.int().min(1).optional().describe('calls of the tool by an account that run at once'),
          })
          .refine(({ perMinute, atOnce }) => perMinute !== undefined || atOnce !== undefined, {
            error: 'limits nothing: give perMinute, atOnce or both',
          }),
      )
      .default([])
      .describe('how often an account may call a tool; every rule that fits counts'),
    timeLimitSeconds: seconds(
      600,
      day,
      'how long it may take to answer; begins anew with progress and with questions to the client',
    ),
    longestSeconds: seconds(3600, day, 'how long it may take to answer with progress, too'),
    breaker: z
      .strictObject({
        failures: z
          .int()
          .min(1)
          .max(1000)
          .default(5)
          .describe('failures in a row after which it is left alone'),
        windowSeconds: seconds(60, day, 'how long a failure counts'),
        openSeconds: seconds(30, day, 'how long it is left alone; then one call tries'),
      })
      .prefault({})
      .describe('when nothing is asked of it for a while because it fails'),
  })
  .prefault({})
  .describe('What may be used of it, and how often.');

/** What the operator allows of a backend, as it was set. */
export type PolicySettings = z.output<typeof policySettings>;

/** What is kept of the answers of a backend. */
export const cacheSettings = z
  .strictObject({
    keep: z
      .boolean()
      .default(true)
      .describe(
        'whether answers of 2026-07-28 are kept as long as they say (ttlMs): public ones for everybody, others for the access token they were given for',
      ),
    listSeconds: z
      .int()
      .min(1)
      .max(day)
      .optional()
      .describe(
        'how long lists of a backend of older revisions are kept, for the access token they were given for; not at all where left out',
      ),
    maxEntries: z.int().min(1).default(1000).describe('most answers that are kept'),
    maxBytes: z
      .int()
      .min(1024)
      .default(16 * 1024 * 1024)
      .describe('most of them together; one may have a tenth of it'),
  })
  .prefault({})
  .describe('What of its answers is kept, and how long.');

/** What is kept of the answers of a backend, as it was set. */
export type CacheSettings = z.output<typeof cacheSettings>;
