import type { AuthInfo } from '../../../src/oauth/auth-info.ts';

/** A caller with these scopes. */
export function authInfoWith(...scopes: string[]): AuthInfo {
  return {
    issuer: 'https://a.example',
    subject: 'ann',
    clientId: 'client-1',
    scopes,
    audience: 'https://a.example/mcp',
    expiresAt: 4_102_444_800,
  };
}
