import { z } from 'zod';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';
import { isScopeToken } from '../oauth/scope.ts';
import { day, seconds } from './limits.ts';

const presets = ['google', 'github', 'entra', 'okta', 'keycloak', 'gitlab', 'slack'] as const;

/** Presets of products that have no one issuer: each installation or tenant is one. */
const presetsWithoutIssuer: readonly string[] = ['entra', 'okta', 'keycloak'];

/** Parameters of the authorization request that are ours to set: each carries a check of the answer. */
const ownParameters = [
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
];

/** Whether a URL can be asked: https, or http on this machine, which only `dangerously.upstreamsOverHttp` allows. */
function isServerUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url?.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

const serverUrl = z
  .string()
  .refine(isServerUrl, { error: 'must be an https URL without user name or fragment' });

const upstreamName = z.string().regex(/^[a-z0-9-]{1,32}$/, {
  error: 'must be a name of 1 to 32 lower case letters, digits and hyphens',
});

const domain = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, {
  error: 'must be a domain in lower case, such as example.com',
});

const host = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/, {
  error: 'must be a host in lower case, such as api.example.com',
});

const scope = z.string().refine(isScopeToken, { error: 'must be a scope' });

const userInfo = z.strictObject({
  subject: z.string().min(1).describe('member with the id of the person, which never changes'),
  email: z.string().min(1).optional().describe('member with the e-mail address'),
  emailVerified: z
    .string()
    .min(1)
    .optional()
    .describe(
      'member that is true or "true" if the address is verified; without one no address counts as verified',
    ),
  name: z.string().min(1).optional().describe('member with the name of the person'),
  groups: z.string().min(1).optional().describe('member with a list of groups; claims know it as groups'),
});

const accounts = z.strictObject({
  create: z
    .boolean()
    .default(false)
    .describe(
      'whether somebody who comes in and has no account gets one; else only accounts that are linked',
    ),
  linkByVerifiedEmail: z
    .array(domain)
    .default([])
    .describe(
      'domains for which its word is taken: who comes with a verified address of one is the account of that address',
    ),
  allow: z
    .strictObject({
      domains: z.array(domain).min(1).optional().describe('domains of verified e-mail addresses'),
      claims: z
        .record(z.string().min(1), z.array(z.string().min(1)).min(1))
        .optional()
        .describe('values of claims, by name, such as groups; one of the values is enough for each'),
    })
    .optional()
    .describe('what somebody has to have to come in, all of it; everybody may where left out'),
});

const claimScopes = z.strictObject({
  claim: z.string().min(1).describe('claim of the upstream, such as groups'),
  value: z.string().min(1).describe('value it has, or has among others'),
  scopes: z.array(scope).min(1).describe('scopes of this server that it opens'),
});

const upstream = z
  .strictObject({
    preset: z
      .enum(presets)
      .optional()
      .describe('product, for its addresses and where it differs from the standards'),
    label: z.string().min(1).max(60).optional().describe('what people call it; stands on the login page'),
    issuer: serverUrl.optional().describe('its issuer identifier; its endpoints are discovered there'),
    authorizationEndpoint: serverUrl
      .optional()
      .describe('for an upstream without metadata: where people log in'),
    tokenEndpoint: serverUrl.optional().describe('for one without metadata: where codes become tokens'),
    userInfoEndpoint: serverUrl
      .optional()
      .describe('for one without metadata: where it says who somebody is'),
    revocationEndpoint: serverUrl
      .optional()
      .describe('for one without metadata: where tokens are given back'),
    userInfo: userInfo
      .optional()
      .describe('where in the answer of userInfoEndpoint what stands; dots go deeper'),
    clientId: z.string().min(1).describe('the client this server is there'),
    clientSecret: z
      .union([
        z.string().min(1),
        z.strictObject({
          env: z.string().min(1).describe('the variable of the environment with the secret'),
        }),
      ])
      .optional()
      .describe('its secret, better as { "env": "NAME" } or in a file of its own: clientSecretFile'),
    clientSecretFile: z
      .string()
      .min(1)
      .optional()
      .describe('file with the secret, read at each start, relative to the config file'),
    clientKeyFile: z
      .string()
      .min(1)
      .optional()
      .describe('or file with a private key, PEM (PKCS #8) or JWK, for private_key_jwt'),
    scopes: z.array(scope).min(1).optional().describe('what is asked for at each login'),
    authorizationParameters: z
      .record(
        z.string().refine((name) => !ownParameters.includes(name), { error: 'is set by this server itself' }),
        z.string(),
      )
      .default({})
      .describe('further parameters of the authorization request'),
    apiHosts: z
      .array(host)
      .default([])
      .describe('hosts of the API that tools may call as the person, with port where it is not 443'),
    allowPrivateNetwork: z
      .boolean()
      .default(false)
      .describe('whether it and its API may live at addresses of a private network'),
    login: z
      .boolean()
      .default(true)
      .describe('whether the login page offers it; else it is only for linking'),
    domains: z
      .array(domain)
      .default([])
      .describe('domains whose people are sent to it at once, by the login_hint of the request'),
    resources: z
      .array(z.string().min(1))
      .default([])
      .describe('resources that want this upstream and no other login, by their URL'),
    accounts: accounts.prefault({}).describe('who may come in, and as whom'),
    grantScopes: z
      .array(claimScopes)
      .optional()
      .describe('scopes that its claims open, such as those of a group; all there are where left out'),
    checkSeconds: seconds(300, day, 'after how long its standing is looked at anew, in the background'),
    graceSeconds: seconds(3_600, 7 * day, 'how long its last word counts while it cannot be reached'),
    unverifiableSeconds: seconds(
      28_800,
      90 * day,
      'how long a login counts whose tokens ended and can neither be renewed nor checked',
    ),
  })
  .superRefine((entry, context) => {
    const add = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const { preset, issuer, clientSecret, clientSecretFile, clientKeyFile } = entry;
    if (issuer === undefined && preset === undefined) {
      const endpoints = ['authorizationEndpoint', 'tokenEndpoint', 'userInfoEndpoint', 'userInfo'] as const;
      if (endpoints.every((name) => entry[name] === undefined))
        add('issuer', 'is needed, or a preset, or authorizationEndpoint and tokenEndpoint');
      else
        for (const name of endpoints)
          if (entry[name] === undefined) add(name, 'is needed for an upstream without issuer');
    }
    if (issuer === undefined && preset !== undefined && presetsWithoutIssuer.includes(preset))
      add('issuer', `is needed with the preset ${preset}: that of your tenant or installation`);
    const proofs = [clientSecret, clientSecretFile, clientKeyFile].filter((proof) => proof !== undefined);
    if (proofs.length !== 1)
      add('clientSecretFile', 'needs to be set, or clientSecret, or clientKeyFile: one of them');
  });

/** The setting for third-party authorization servers that people log in at. */
export const upstreamSettings = z
  .record(upstreamName, upstream)
  .default({})
  .describe('Third-party authorization servers that people log in at and tools call as them, by name.');

/** Upstreams, as they were set. */
export type UpstreamsSettings = z.output<typeof upstreamSettings>;

/** Names the settings of upstreams whose URLs are http on this machine, each by its place; others are refused anyway. */
export function findPlainUrls(upstreams: UpstreamsSettings): string[] {
  const urls = [
    'issuer',
    'authorizationEndpoint',
    'tokenEndpoint',
    'userInfoEndpoint',
    'revocationEndpoint',
  ] as const;
  return Object.entries(upstreams).flatMap(([name, entry]) =>
    urls
      .filter((url) => entry[url]?.startsWith('http:') && isServerUrl(entry[url]))
      .map((url) => `${name}.${url}`),
  );
}
