import { z } from 'zod';
import type { StoreData } from '../stores/store-data.ts';

const privateJwk = z.object({ kty: z.string() }).catchall(z.string());

const registration = z.object({
  issuer: z.string(),
  clientId: z.string(),
  clientSecret: z.string().optional(),
  clientSecretExpiresAt: z.number().optional(),
  privateKey: privateJwk.optional(),
  tokenEndpointAuthMethod: z.string().optional(),
  redirectUris: z.array(z.string()),
  source: z.enum(['given', 'dynamic', 'metadata_document']),
});

const credential = z.object({
  authorizationServer: z.object({
    issuer: z.string(),
    token_endpoint: z.string(),
    revocation_endpoint: z.string().optional(),
    token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  }),
  resource: z.string(),
  withoutResource: z.literal(true).optional(),
  clientId: z.string(),
  accessToken: z.string(),
  expiresAt: z.number().optional(),
  renewAt: z.number().optional(),
  refreshToken: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  dpopKey: privateJwk.optional(),
  grant: z
    .object({
      type: z.literal('client_credentials'),
      clientSecret: z.string().optional(),
      privateKey: privateJwk.optional(),
      tokenEndpointAuthMethod: z.string().optional(),
    })
    .optional(),
  workload: z.literal(true).optional(),
});

const formerLogin = z.object({
  issuer: z.string().optional(),
  machine: z
    .object({
      grant: z.enum(['client_credentials', 'workload_identity']),
      clientId: z.string(),
      proof: z.enum(['secret', 'key', 'assertion']),
    })
    .optional(),
  chosen: z
    .object({ dpop: z.literal(true).optional(), withoutResource: z.literal(true).optional() })
    .optional(),
});

const tokenFile = z.object({
  version: z.literal(1),
  registrations: z.record(z.string(), registration),
  replaced: z.record(z.string(), registration).default({}),
  credentials: z.record(z.string(), credential),
  logins: z.record(z.string(), z.string()),
  ended: z.record(z.string(), formerLogin).default({}),
});

/**
 * Reads the text of a token file.
 * @param text the whole file
 * @returns its content, or undefined for anything that is no token file of this version
 */
export function parseTokenFile(text: string): StoreData | undefined {
  try {
    const { version: _, ...book } = tokenFile.parse(JSON.parse(text));
    return book;
  } catch {
    return undefined;
  }
}

/** @returns the text of a token file */
export function formatTokenFile(book: StoreData): string {
  return `${JSON.stringify({ version: 1, ...book }, null, 2)}\n`;
}
