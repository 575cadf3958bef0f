import { z } from 'zod';
import { isScopeToken } from '../oauth/scope.ts';

const scopes = z.array(z.string().refine(isScopeToken, { error: 'must be a scope' }));

const resources = z
  .array(z.string())
  .optional()
  .describe('resources it gives access to, by their URL; default: all');

const domain = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, {
  error: 'must be a domain in lower case, such as example.com',
});

const pattern = z
  .string()
  .min(1)
  .refine((value) => !/^\*+$/.test(value), { error: 'must say something: * alone is everybody' });

const accounts = z
  .strictObject({
    subjects: z
      .record(z.string().min(1), z.string().min(1))
      .default({})
      .describe("e-mail addresses of accounts, by the issuer's sub"),
    emailDomains: z
      .array(domain)
      .default([])
      .describe(
        'domains for which the issuer is trusted: a user with an address in one of them is permanently linked to the account with that address',
      ),
    create: z
      .boolean()
      .default(false)
      .describe('a user with an address in these domains and without an account gets one'),
  })
  .superRefine(({ emailDomains, create }, context) => {
    if (create && emailDomains.length === 0)
      context.addIssue({
        code: 'custom',
        path: ['create'],
        message: 'needs emailDomains: accounts are made for addresses in these alone',
      });
  });

const identityAssertions = z.strictObject({
  accounts: accounts.prefault({}).describe('accounts of its users'),
  scopes: scopes.optional().describe('maximum scopes; default: all'),
  resources,
});

const workload = z.strictObject({
  clientId: z.string().min(1).describe('client id of a client that you registered'),
  claims: z
    .record(z.string().min(1), pattern)
    .refine((claims) => Object.hasOwn(claims, 'sub'), { error: 'must have sub at least' })
    .describe('required claims, by name; * stands for any characters; sub is required'),
  scopes: scopes.min(1).describe('maximum scopes'),
  resources,
});

const trustedIssuer = z
  .strictObject({
    issuer: z
      .url({ protocol: /^https$/, error: 'must be an https URL, just as it stands in iss' })
      .describe('issuer identifier, as in the claim iss'),
    jwksUri: z.string().optional().describe('https URL of its public keys'),
    jwks: z
      .looseObject({ keys: z.array(z.record(z.string(), z.unknown())) })
      .optional()
      .describe('or its public keys'),
    identityAssertions: identityAssertions
      .optional()
      .describe('the issuer may assert users, and these (ID-JAG, enterprise-managed authorization)'),
    workloads: z
      .array(workload)
      .default([])
      .describe('workloads of its platform, mapped to clients (workload identity)'),
  })
  .superRefine(({ jwks, jwksUri, identityAssertions: people, workloads }, context) => {
    const add = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if ((jwks === undefined) === (jwksUri === undefined)) add('jwksUri', 'needs either this or jwks');
    if (people === undefined && workloads.length === 0)
      add('identityAssertions', 'is needed, or workloads: else the issuer is trusted with nothing');
  });

/** Setting: issuers whose assertions replace a login or a client secret. */
export const trustedIssuerSettings = z
  .array(trustedIssuer)
  .default([])
  .superRefine((issuers, context) => {
    for (const [index, { issuer }] of issuers.entries())
      if (issuers.findIndex((other) => other.issuer === issuer) !== index)
        context.addIssue({ code: 'custom', path: [index, 'issuer'], message: 'stands here twice' });
  })
  .describe(
    'Identity providers and platforms whose assertions replace a login or a secret; docs/machines.md.',
  );

/** Setting: servers that may exchange the tokens they receive. */
export const tokenExchangeSettings = z
  .array(
    z.strictObject({
      clientId: z
        .string()
        .min(1)
        .describe('client id by which the server authenticates; one that you registered'),
      from: z.string().describe('resource of the server: only tokens for this resource are exchanged'),
      to: z.array(z.string()).min(1).describe('resources it may call with the new token'),
      scopes: scopes.optional().describe('maximum scopes for them; default: those of the exchanged token'),
    }),
  )
  .default([])
  .describe(
    'Servers that may exchange the token they received for one to call another server; docs/machines.md.',
  );
