import { z } from 'zod';
import { isForbiddenScheme } from '../oauth/redirect-uri.ts';
import { type ToleranceName, toleranceNames, tolerances } from '../oauth/tolerances.ts';
import { hostPattern } from './addresses.ts';

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

/** The settings for how clients become known, and what is overlooked. */
export const clientSettings = z
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
        'schemes without a dot, such as myapp, that redirect URIs may have beside those of known apps; schemes such as com.example.app need not be named',
      ),
    metadataDocuments: z
      .strictObject({
        enabled: z
          .union([z.boolean(), z.literal('auto')])
          .default('auto')
          .describe(
            'whether a client may be known by the https URL of a document about itself, which this server then fetches; "auto" announces it only if a start finds that such documents can be fetched',
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
  .describe('How clients become known.');
