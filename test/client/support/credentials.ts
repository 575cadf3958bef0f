import type { Credential, Registration } from '../../../src/client/index.ts';
import { startOfTime } from './context.ts';

/** A credential that is valid for an hour of the test clock. */
export function testCredential(overrides: Partial<Credential> & { issuer?: string } = {}): Credential {
  const { issuer = 'https://as.example', ...rest } = overrides;
  return {
    authorizationServer: {
      issuer,
      token_endpoint: `${issuer}/token`,
      revocation_endpoint: `${issuer}/revoke`,
    },
    resource: 'https://mcp.example/mcp',
    clientId: 'client',
    accessToken: 'at',
    expiresAt: startOfTime + 3600,
    refreshToken: 'rt',
    scopes: ['read'],
    ...rest,
  };
}

/** A registration that belongs to {@link testCredential}. */
export function testRegistration(overrides: Partial<Registration> = {}): Registration {
  return {
    issuer: 'https://as.example',
    clientId: 'client',
    redirectUris: ['http://127.0.0.1/callback'],
    source: 'dynamic',
    ...overrides,
  };
}
