import { z } from 'zod';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';
import { canonicalResource } from '../oauth/resource-indicator.ts';
import { isScopeToken, personalScopes } from '../oauth/scope.ts';
import { ownScope } from './scopes.ts';

/** Returns the reason why a URL is no resource identifier; undefined if it is one (RFC 8707 section 2). */
function checkResource(value: string): string | undefined {
  const canonical = canonicalResource(value);
  const url = URL.parse(value);
  if (canonical === undefined || !url) return 'must be an absolute URL such as https://api.example.com/mcp';
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return 'must begin with https:// (http:// is for localhost alone)';
  return canonical === value ? undefined : `must be written as ${canonical}`;
}

const resource = z
  .string()
  .superRefine((value, context) => {
    const message = checkResource(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .describe('its URL, the audience of its tokens');

const scopeName = z
  .string()
  .refine(isScopeToken, { error: 'must be a scope: printable ASCII without spaces, " and \\' });

/** A protected resource on another server, which verifies the tokens issued here. */
const elsewhere = z.strictObject({
  resource,
  name: z.string().min(1).max(200).describe('display name on the consent page'),
  scopes: z
    .record(scopeName, z.string().min(1))
    .refine((scopes) => Object.keys(scopes).length > 0, { error: 'must have at least one scope' })
    .describe('its scopes, each with the sentence for the consent page'),
  baselineScopes: z
    .array(scopeName)
    .optional()
    .describe('scopes of a client that requests none; default: all'),
  accessTokenFormat: z
    .enum(['jwt', 'opaque'])
    .default('jwt')
    .describe('jwt: its server verifies tokens with the keys at /jwks; opaque: it calls /introspect'),
  accessTokenSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .default(300)
    .describe(
      'lifetime of its access tokens; a server without introspection notices a revocation only at expiry',
    ),
  dpopRequired: z
    .boolean()
    .optional()
    .describe('its access tokens have to be bound to a key of the client; default: tokens.dpop.required'),
  introspectedBy: z
    .array(z.string().min(1))
    .default([])
    .describe('confidential clients that may call /introspect for its tokens: its servers'),
});

/** Setting: protected resources on other servers. Each problem is reported at its place. */
export const resourceSettings = z
  .array(elsewhere)
  .default([])
  .superRefine((entries, context) => {
    for (const [index, entry] of entries.entries()) {
      if (entries.findIndex((other) => other.resource === entry.resource) !== index)
        context.addIssue({ code: 'custom', path: [index, 'resource'], message: 'stands here twice' });
      for (const scope of personalScopes)
        if (Object.hasOwn(entry.scopes, scope))
          context.addIssue({ code: 'custom', path: [index, 'scopes', scope], message: ownScope });
      for (const scope of entry.baselineScopes ?? [])
        if (!Object.hasOwn(entry.scopes, scope))
          context.addIssue({
            code: 'custom',
            path: [index, 'baselineScopes'],
            message: `${scope} is none of its scopes`,
          });
    }
  })
  .describe(
    'Protected resources on other servers, for which this server also issues tokens. Their own servers verify them.',
  );

/** Resources on other servers, after parsing. */
export type ResourceSettings = z.output<typeof resourceSettings>;

/** Returns the places of entries that are resources of this server. */
export function findOwnResources(entries: ResourceSettings, own: readonly string[]): string[] {
  return entries.flatMap((entry, index) =>
    own.includes(entry.resource)
      ? [`resources.${index}.resource: ${entry.resource} is served here; leave it out`]
      : [],
  );
}

/**
 * Adds the defaults of resources on other servers.
 * @param dpopRequired default for entries that do not set if tokens must be bound to a key
 */
export function completeResources(entries: ResourceSettings, dpopRequired: boolean) {
  return entries.map(({ baselineScopes, ...entry }) => ({
    ...entry,
    dpopRequired: entry.dpopRequired ?? dpopRequired,
    baselineScopes: baselineScopes ?? Object.keys(entry.scopes),
  }));
}
