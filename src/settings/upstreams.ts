import { z } from 'zod';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';
import { isScopeToken } from '../oauth/scope.ts';
import { day, seconds } from './limits.ts';

const presets = ['google', 'github', 'entra', 'okta', 'keycloak', 'gitlab', 'slack'] as const;

/** Presets of products in which each installation or tenant has its own issuer. */
const presetsWithoutIssuer: readonly string[] = ['entra', 'okta', 'keycloak'];

/** Parameters of the authorization request that Gatehouse sets itself: each carries a check of the response. */
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

/**
 * Returns whether a URL may be requested: https, or http on this machine, which only `dangerously.upstreamsOverHttp`
 * allows.
 */
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
  subject: z.string().min(1).describe('member with the id of the user, which never changes'),
  email: z.string().min(1).optional().describe('member with the e-mail address'),
  emailVerified: z
    .string()
    .min(1)
    .optional()
    .describe(
      'member that is true or "true" if the address is verified; without one no address counts as verified',
    ),
  name: z.string().min(1).optional().describe('member with the name of the user'),
  groups: z
    .string()
    .min(1)
    .optional()
    .describe('member with a list of groups, available to claims as groups'),
});

const accounts = z.strictObject({
  create: z
    .boolean()
    .default(false)
    .describe('a new user without an account gets one; otherwise only linked accounts can log in'),
  linkByVerifiedEmail: z
    .array(domain)
    .default([])
    .describe(
      'domains for which the upstream is trusted: a user with a verified address in one of them is the account with that address',
    ),
  allow: z
    .strictObject({
      domains: z.array(domain).min(1).optional().describe('domains of verified e-mail addresses'),
      claims: z
        .record(z.string().min(1), z.array(z.string().min(1)).min(1))
        .optional()
        .describe(
          'required values of claims, by name, such as groups; one of the values is sufficient for each',
        ),
    })
    .optional()
    .describe('conditions that a user has to meet to log in, all of them; default: none'),
});

const claimScopes = z.strictObject({
  claim: z.string().min(1).describe('claim of the upstream, such as groups'),
  value: z.string().min(1).describe('value of the claim, or one of its values'),
  scopes: z.array(scope).min(1).describe('scopes of this server that it grants'),
});

const upstream = z
  .strictObject({
    preset: z
      .enum(presets)
      .optional()
      .describe('product, which sets its URLs and its differences from the standards'),
    label: z.string().min(1).max(60).optional().describe('display name on the login page'),
    issuer: serverUrl.optional().describe('its issuer identifier; its endpoints are discovered from it'),
    authorizationEndpoint: serverUrl
      .optional()
      .describe('for an upstream without metadata: authorization endpoint'),
    tokenEndpoint: serverUrl.optional().describe('for an upstream without metadata: token endpoint'),
    userInfoEndpoint: serverUrl.optional().describe('for an upstream without metadata: userinfo endpoint'),
    revocationEndpoint: serverUrl
      .optional()
      .describe('for an upstream without metadata: revocation endpoint'),
    userInfo: userInfo
      .optional()
      .describe('members in the response of userInfoEndpoint; dots separate nested names'),
    clientId: z.string().min(1).describe('client id of this server at the upstream'),
    clientSecret: z
      .union([
        z.string().min(1),
        z.strictObject({
          env: z.string().min(1).describe('environment variable with the secret'),
        }),
      ])
      .optional()
      .describe('client secret, better as { "env": "NAME" } or in a file of its own: clientSecretFile'),
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
    scopes: z.array(scope).min(1).optional().describe('scopes requested at each login'),
    authorizationParameters: z
      .record(
        z.string().refine((name) => !ownParameters.includes(name), { error: 'is set by this server itself' }),
        z.string(),
      )
      .default({})
      .describe('additional parameters of the authorization request'),
    apiHosts: z
      .array(host)
      .default([])
      .describe('hosts of the API that tools may call as the user, with port unless it is 443'),
    allowPrivateNetwork: z
      .boolean()
      .default(false)
      .describe('the upstream and its API may have addresses of a private network'),
    login: z
      .boolean()
      .default(true)
      .describe('the login page offers this upstream; otherwise it is only used for linking'),
    domains: z
      .array(domain)
      .default([])
      .describe(
        'domains whose users are redirected to this upstream at once, by the login_hint of the request',
      ),
    resources: z
      .array(z.string().min(1))
      .default([])
      .describe('resources that require this upstream and no other login, by their URL'),
    accounts: accounts.prefault({}).describe('users who may log in, and their accounts'),
    grantScopes: z
      .array(claimScopes)
      .optional()
      .describe('scopes granted by claims, such as those of a group; default: all'),
    callerClaims: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'claims that MCP servers learn about the caller, such as department; name, e-mail address, groups and roles come without being named',
      ),
    checkSeconds: seconds(300, day, 'time after which the login is checked again, in the background'),
    graceSeconds: seconds(
      3_600,
      7 * day,
      'time for which the last check is valid while the upstream is unreachable',
    ),
    unverifiableSeconds: seconds(
      28_800,
      90 * day,
      'lifetime of a login whose tokens have expired and can be neither refreshed nor checked',
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

/** Setting: third-party authorization servers for logins. */
export const upstreamSettings = z
  .record(upstreamName, upstream)
  .default({})
  .describe('Third-party authorization servers for logins and for API calls by tools, by name.');

/** Upstreams after parsing. */
export type UpstreamsSettings = z.output<typeof upstreamSettings>;

/** Returns the places of upstream URLs that are http on this machine; other http URLs are rejected anyway. */
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
