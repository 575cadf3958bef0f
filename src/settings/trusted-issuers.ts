import { z } from 'zod';
import { isScopeToken } from '../oauth/scope.ts';

const scopes = z.array(z.string().refine(isScopeToken, { error: 'must be a scope' }));

const resources = z
  .array(z.string())
  .optional()
  .describe('resources it opens, by their URL; all there are where left out');

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
      .describe('e-mail addresses of accounts by the sub the issuer knows them as'),
    emailDomains: z
      .array(domain)
      .default([])
      .describe(
        'domains for which the issuer is believed: who comes with an address of one is, for good, the account of that address',
      ),
    create: z
      .boolean()
      .default(false)
      .describe('whether somebody with an address in these domains who has no account gets one'),
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
  accounts: accounts.prefault({}).describe('whose accounts its people are'),
  scopes: scopes.optional().describe('the most it can give; all there is where left out'),
  resources,
});

const workload = z.strictObject({
  clientId: z.string().min(1).describe('the client it is; one that you registered'),
  claims: z
    .record(z.string().min(1), pattern)
    .refine((claims) => Object.hasOwn(claims, 'sub'), { error: 'must have sub at least' })
    .describe('what its claims have to be, by name; * stands for anything; sub has to be among them'),
  scopes: scopes.min(1).describe('what it may have'),
  resources,
});

const trustedIssuer = z
  .strictObject({
    issuer: z
      .url({ protocol: /^https$/, error: 'must be an https URL, just as it stands in iss' })
      .describe('its issuer identifier, as it stands in the claim iss'),
    jwksUri: z.string().optional().describe('the https URL its public keys are fetched from'),
    jwks: z
      .looseObject({ keys: z.array(z.record(z.string(), z.unknown())) })
      .optional()
      .describe('or its public keys'),
    identityAssertions: identityAssertions
      .optional()
      .describe('that it may speak for people, and for whom (ID-JAG, enterprise-managed authorization)'),
    workloads: z
      .array(workload)
      .default([])
      .describe('which workloads of its platform are which client (workload identity)'),
  })
  .superRefine(({ jwks, jwksUri, identityAssertions: people, workloads }, context) => {
    const add = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if ((jwks === undefined) === (jwksUri === undefined)) add('jwksUri', 'needs either this or jwks');
    if (people === undefined && workloads.length === 0)
      add('identityAssertions', 'is needed, or workloads: else the issuer is trusted with nothing');
  });

/** The setting for issuers whose assertions are taken in place of a login or a secret. */
export const trustedIssuerSettings = z
  .array(trustedIssuer)
  .default([])
  .superRefine((issuers, context) => {
    for (const [index, { issuer }] of issuers.entries())
      if (issuers.findIndex((other) => other.issuer === issuer) !== index)
        context.addIssue({ code: 'custom', path: [index, 'issuer'], message: 'stands here twice' });
  })
  .describe(
    'Identity providers and platforms whose word lets people and workloads in without a login or a secret; docs/machines.md.',
  );

/** The setting for servers that may exchange the tokens they are called with. */
export const tokenExchangeSettings = z
  .array(
    z.strictObject({
      clientId: z.string().min(1).describe('the client it authenticates as; one that you registered'),
      from: z.string().describe('the resource it is: only tokens for this one are exchanged'),
      to: z.array(z.string()).min(1).describe('resources it may call with what it gets'),
      scopes: scopes.optional().describe('the most it may have there; what the token had where left out'),
    }),
  )
  .default([])
  .describe(
    'Servers that may exchange the token they were called with for one to call another; docs/machines.md.',
  );
