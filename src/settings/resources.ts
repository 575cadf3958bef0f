import { z } from 'zod';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';
import { canonicalResource } from '../oauth/resource-indicator.ts';
import { isScopeToken, personalScopes } from '../oauth/scope.ts';
import { ownScope } from './scopes.ts';

/** Why a URL is no identifier of a protected resource; undefined for one that is (RFC 8707 section 2). */
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

/** One protected resource that lives elsewhere: its own server checks the tokens that are issued here. */
const elsewhere = z.strictObject({
  resource,
  name: z.string().min(1).max(200).describe('what people call it; stands on the consent page'),
  scopes: z
    .record(scopeName, z.string().min(1))
    .refine((scopes) => Object.keys(scopes).length > 0, { error: 'must have at least one scope' })
    .describe('its scopes, each with the sentence the consent page shows'),
  baselineScopes: z
    .array(scopeName)
    .optional()
    .describe('what a client gets that asks for nothing in particular; all scopes where left out'),
  accessTokenFormat: z
    .enum(['jwt', 'opaque'])
    .default('jwt')
    .describe('jwt: its server checks tokens by the keys at /jwks; opaque: it asks /introspect'),
  accessTokenSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .default(300)
    .describe('life of its access tokens; a server that does not ask learns of a revocation no sooner'),
  dpopRequired: z
    .boolean()
    .optional()
    .describe(
      'whether its access tokens have to be bound to a key of the client; as tokens.dpop.required if left out',
    ),
  introspectedBy: z
    .array(z.string().min(1))
    .default([])
    .describe('confidential clients that may ask /introspect about its tokens: its servers'),
});

/** The setting for protected resources that live elsewhere. Each problem is named where it is. */
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
    'Protected resources that live elsewhere, for which this server issues tokens as well. Their own servers check them.',
  );

/** Resources that live elsewhere, as they were set. */
export type ResourceSettings = z.output<typeof resourceSettings>;

/** Names the entries that are resources of this very server, and so do not live elsewhere. */
export function findOwnResources(entries: ResourceSettings, own: readonly string[]): string[] {
  return entries.flatMap((entry, index) =>
    own.includes(entry.resource)
      ? [`resources.${index}.resource: ${entry.resource} is served here; leave it out`]
      : [],
  );
}

/**
 * The resources that live elsewhere, with everything filled in.
 * @param dpopRequired whether tokens are bound to a key where an entry does not say
 */
export function completeResources(entries: ResourceSettings, dpopRequired: boolean) {
  return entries.map(({ baselineScopes, ...entry }) => ({
    ...entry,
    dpopRequired: entry.dpopRequired ?? dpopRequired,
    baselineScopes: baselineScopes ?? Object.keys(entry.scopes),
  }));
}
