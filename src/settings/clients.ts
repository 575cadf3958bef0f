import { z } from 'zod';
import { isForbiddenScheme } from '../oauth/redirect-uri.ts';
import { type ToleranceName, toleranceNames, tolerances } from '../oauth/tolerances.ts';
import { hostPattern } from './addresses.ts';

const tolerance = (name: ToleranceName) =>
  z
    .boolean()
    .default(true)
    .describe(`accepts ${tolerances[name].takes}; otherwise ${tolerances[name].otherwise}`);

const preRegisteredClient = z.strictObject({
  clientId: z.string().describe('its client_id'),
  name: z.string().describe('display name; the consent page says that you registered it'),
  redirectUris: z.array(z.string()).default([]).describe('its redirect URIs'),
  authMethod: z
    .enum(['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'])
    .default('none')
    .describe('its authentication method'),
  secretHash: z
    .string()
    .optional()
    .describe('its secret as sha256: and the output of sha256sum; never the secret itself'),
  secretFile: z
    .string()
    .min(1)
    .optional()
    .describe('or the file with its secret, read at each start, relative to the config file'),
  secretExpires: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('expiry of its secret, such as 2027-01-31T00:00:00Z; default: never'),
  jwks: z
    .looseObject({ keys: z.array(z.record(z.string(), z.unknown())) })
    .optional()
    .describe('its public keys, for private_key_jwt'),
  jwksUri: z.string().optional().describe('or the https URL of its public keys'),
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
    .describe('allowed grant types'),
  scopes: z
    .array(z.string())
    .optional()
    .describe('maximum scopes; default: all; required for client_credentials'),
});

/** Settings: client registration and tolerances. */
export const clientSettings = z
  .strictObject({
    preRegistered: z
      .array(preRegisteredClient)
      .default([])
      .describe('clients that you register; a client that is removed here ends at the next start'),
    clientCredentials: z
      .boolean()
      .default(false)
      .describe('clients that you register may act for themselves (client credentials)'),
    registration: z
      .enum(['open', 'approval', 'initial_access_token', 'off'])
      .default('open')
      .describe(
        'registration of clients: open, anybody; approval, anybody, and an operator approves each client before it is used; initial_access_token, invited clients; off, nobody',
      ),
    sealedIds: z
      .boolean()
      .default(false)
      .describe(
        'a client that registers gets an id that contains its registration, so that nothing is stored before a user consents',
      ),
    redirectSchemes: z
      .array(
        z
          .string()
          .toLowerCase()
          .refine((scheme) => !isForbiddenScheme(scheme), {
            error: 'must be a scheme such as myapp, without a colon, that runs and opens nothing by itself',
          }),
      )
      .default([])
      .describe(
        'URI schemes without a dot, such as myapp, allowed in redirect URIs in addition to those of known apps; schemes such as com.example.app need not be listed',
      ),
    metadataDocuments: z
      .strictObject({
        enabled: z
          .union([z.boolean(), z.literal('auto')])
          .default('auto')
          .describe(
            'a client may use the https URL of its metadata document as its id, which this server then fetches; "auto" announces this only if such documents can be fetched at start',
          ),
        allowedHosts: z
          .array(hostPattern)
          .prefault([])
          .describe(
            'hosts whose documents are accepted, such as claude.ai or *.example.com (the hosts below it); default: any',
          ),
        deniedHosts: z
          .array(hostPattern)
          .prefault([])
          .describe(
            'hosts whose documents are never accepted; existing grants of their clients end at the next refresh',
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
      .describe('deviations of real clients that are accepted; docs/tolerances.md names the clients'),
  })
  .prefault({})
  .describe('Registration of clients.');
